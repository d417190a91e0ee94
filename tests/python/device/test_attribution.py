"""Which kernels belong to which region, in PyTorch."""

from __future__ import annotations

import threading

import pytest

import warpmeter

torch = pytest.importorskip("torch")

SILENT = warpmeter.VerbosityLevel.SILENT


def value(frame, annotation, column="AvgValue"):
    (found,) = frame.loc[frame["Annotation"] == annotation, column]
    return found


def kernels(results, **where):
    """Records of kernels, as dicts."""
    found = [row for row in results.kernels().to_pylist() if row["kind"] == "kernel"]
    return [row for row in found if all(row[name] == value for name, value in where.items())]


def test_a_backward_pass_belongs_to_the_region_that_waits_for_it():
    w = torch.randn(512, 512, device="cuda", requires_grad=True)
    x = torch.randn(512, 512, device="cuda")

    @warpmeter.analyze.kernel(runs=5, warmup=1, combine_kernel_metrics="auto", verbosity=SILENT)
    def step():
        with warpmeter.annotate("forward"):
            loss = (x @ w).square().sum()
        with warpmeter.annotate("backward"):
            loss.backward()
        w.grad = None

    results = step()
    frame = results.to_dataframe()
    assert list(frame["Annotation"]) == ["forward", "backward"]
    assert list(frame["Status"]) == ["ok", "ok"]
    assert (frame["AvgValue"] > 0).all()
    threads = {
        region: {row["thread"] for row in kernels(results, region=region)}
        for region in ("forward", "backward")
    }
    assert len(threads["forward"]) == 1
    assert threads["backward"] - threads["forward"]  # autograd's own thread launched
    totals = {
        region: sum(row["duration_ns"] for row in kernels(results, region=region)) / 5
        for region in ("forward", "backward")
    }
    for region, total in totals.items():
        assert value(frame, region) == pytest.approx(total, rel=1e-9)


def test_products_of_other_sizes_launch_other_numbers_of_kernels():
    @warpmeter.analyze.kernel(configs=[512, 1024, 2048, 4096], runs=5, warmup=1, verbosity=SILENT)
    def product(n):
        a = torch.randn(n, n, device="cuda")
        b = torch.randn(n, n, device="cuda")
        with warpmeter.annotate("product"):
            a @ b

    try:
        results = product()
    except RuntimeError as several:
        assert "product" in str(several)
        assert "combine_kernel_metrics" in str(several)
        results = several.results
    frame = results.to_dataframe()
    assert list(frame["n"]) == [512, 1024, 2048, 4096]
    for _, row in frame.iterrows():
        seen = kernels(results, n=row["n"], region="product")
        assert len(seen) >= 5 and len(seen) % 5 == 0
        if len(seen) == 5:
            assert row["Status"] == "ok"
            mean = sum(record["duration_ns"] for record in seen) / 5
            assert row["AvgValue"] == pytest.approx(mean, rel=1e-9)
        else:
            assert row["AvgValue"] != row["AvgValue"]
            assert row["Reason"]


def test_products_of_other_sizes_add_up_with_auto():
    @warpmeter.analyze.kernel(
        configs=[512, 1024], runs=5, warmup=1, verbosity=SILENT, combine_kernel_metrics="auto"
    )
    def product(n):
        a = torch.randn(n, n, device="cuda")
        b = torch.randn(n, n, device="cuda")
        with warpmeter.annotate("product"):
            a @ b

    results = product()
    frame = results.to_dataframe()
    assert list(frame["Status"]) == ["ok", "ok"]
    for _, row in frame.iterrows():
        seen = kernels(results, n=row["n"], region="product")
        assert row["AvgValue"] == pytest.approx(sum(r["duration_ns"] for r in seen) / 5, rel=1e-9)
        assert row["Kernels"] == len(seen)


def test_threads_launch_into_their_own_regions():
    x = torch.randn(1 << 20, device="cuda")
    count = 8

    def work(name):
        torch.cuda.set_device(0)
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(count):
                with warpmeter.annotate(name):
                    torch.add(x, 1.0)

    names = [f"thread{i}" for i in range(4)]
    with warpmeter.session(metrics="kernel_time", verbosity=SILENT) as s:
        threads = [threading.Thread(target=work, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        torch.cuda.synchronize()
    frame = s.results.to_dataframe()
    assert sorted(frame["Annotation"]) == names
    assert list(frame["Kernels"]) == [count] * 4


def test_no_kernel_at_all_is_a_row_with_a_reason():
    @warpmeter.analyze.kernel(configs=[0, 1], runs=3, warmup=1, verbosity=SILENT)
    def perhaps(n):
        x = torch.ones(1024, device="cuda")
        with warpmeter.annotate("perhaps"):
            if n:
                x * 2

    frame = perhaps().to_dataframe()
    assert list(frame["n"]) == [0, 1]
    assert frame["AvgValue"].isna().tolist() == [True, False]
    assert frame["Reason"][0]


def test_measuring_again_and_again_beside_a_thread_that_launches():
    """Each call flushes and waits; the interpreter lock is given up meanwhile."""
    stop = threading.Event()
    x = torch.randn(1 << 16, device="cuda")

    def launch():
        while not stop.is_set():
            with warpmeter.annotate("beside"):
                x * 2

    beside = threading.Thread(target=launch)
    beside.start()
    try:
        for _ in range(20):

            @warpmeter.analyze.kernel(
                runs=20, verbosity=SILENT, combine_kernel_metrics="auto", scope="thread"
            )
            def product():
                with warpmeter.annotate("here"):
                    x + 1

            frame = product().to_dataframe()
            (number,) = frame.loc[frame["Annotation"] == "here", "NumRuns"]
            assert number == 20
    finally:
        stop.set()
        beside.join()
