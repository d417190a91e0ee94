"""The machine's state as columns: the frame's names, and the table's."""

STATE = {
    "GPUClock": "gpu_clock_hz",
    "GPUMemoryClock": "gpu_memory_clock_hz",
    "GPUTemperature": "gpu_temperature_c",
    "GPUHeadroom": "gpu_headroom_c",
    "GPUPState": "gpu_pstate",
    "GPUUtilization": "gpu_utilization",
    "GPUPower": "gpu_power_w",
    "GPUEnergy": "gpu_energy_j",
    "GPUThrottle": "gpu_throttle",
    "CPUClock": "cpu_clock_hz",
    "CPUEnergy": "cpu_energy_j",
    "CPUThrottle": "cpu_throttle",
}
"""What sensors said in the runs; in base units."""

THROTTLED = {"Throttled": "throttled"}
"""How many samples were taken while a clock was held down."""

CLOCKS = {"ClockRequested": "clock_requested_hz"}
"""Where clocks were to be held."""
