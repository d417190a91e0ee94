/* libnvperf_host: nothing of it is called but by libcupti. */
int fake_nvperf_host(void);
int fake_nvperf_host(void) { return 0; }
