# CUDA's headers (never its libraries): the toolkit's, or those of the packages nvidia-cuda-cupti,
# nvidia-cuda-runtime and nvidia-cuda-crt beside python3. Without them the library is built without its cuda backend.
find_path(WM_CUDA_INCLUDE cuda.h HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include
  DOC "Folder that holds cuda.h")
find_path(WM_CUDA_CRT_INCLUDE crt/host_defines.h HINTS ${WM_CUDA_INCLUDE} DOC "Folder that holds crt/host_defines.h")
find_path(WM_CUPTI_INCLUDE cupti_range_profiler.h HINTS ${WM_CUDA_INCLUDE} ${WM_CUDA_INCLUDE}/../extras/CUPTI/include
  DOC "Folder that holds cupti_range_profiler.h (CUPTI 12.6 or newer)")
set(variables WM_CUDA_INCLUDE WM_CUDA_CRT_INCLUDE WM_CUPTI_INCLUDE)
set(headers cuda.h crt/host_defines.h cupti_range_profiler.h)
if(NOT WM_CUDA_INCLUDE OR NOT WM_CUDA_CRT_INCLUDE OR NOT WM_CUPTI_INCLUDE)
  # The PATH's python3 of now, not of the first configuration: an environment may have been activated since. -I:
  # where pip builds, PYTHONPATH hides what is installed.
  execute_process(COMMAND python3 -I -c "import nvidia; [print(p, end=';') for p in nvidia.__path__]"
    OUTPUT_VARIABLE packages ERROR_QUIET RESULT_VARIABLE status)
  foreach(package ${packages})
    file(GLOB folders ${package}/*/include)
    foreach(variable header IN ZIP_LISTS variables headers)
      find_path(${variable} ${header} PATHS ${folders} NO_DEFAULT_PATH)
    endforeach()
  endforeach()
endif()
set(missing "")
foreach(variable header IN ZIP_LISTS variables headers)
  if(NOT ${variable})
    list(APPEND missing ${header})
  endif()
endforeach()
set(WM_HAVE_CUDA OFF)
if(missing)
  list(JOIN missing ", " missing)
  message(STATUS "built without the cuda backend, for want of ${missing}: install the CUDA toolkit, or with pip "
    "nvidia-cuda-cupti, nvidia-cuda-runtime and nvidia-cuda-crt, all of one version such as 13.0, or set "
    "WM_CUDA_INCLUDE, WM_CUDA_CRT_INCLUDE and WM_CUPTI_INCLUDE")
else()
  set(WM_HAVE_CUDA ON)
  message(STATUS "CUDA headers: ${WM_CUDA_INCLUDE} ${WM_CUPTI_INCLUDE}")
  # cupti_profiler_host.h includes <string> and uses nothing of it.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/cuda-include)
  file(WRITE ${PROJECT_BINARY_DIR}/cuda-include/string "")
endif()

# Let a target include CUDA's headers. They are system headers: their warnings are not ours.
function(wm_use_cuda target)
  if(WM_HAVE_CUDA)
    target_compile_definitions(${target} PRIVATE WM_HAVE_CUDA)
    target_include_directories(${target} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/cuda-include ${WM_CUPTI_INCLUDE}
      ${WM_CUDA_INCLUDE} ${WM_CUDA_CRT_INCLUDE})
  endif()
endfunction()

# NVTX's header (never a library: it opens the tool that listens, if there is one), of the toolkit, or of the
# package nvidia-nvtx. Without it regions are not shown to other tools.
find_path(WM_NVTX_INCLUDE nvtx3/nvToolsExt.h HINTS ${WM_CUDA_INCLUDE} ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda ${folders} PATH_SUFFIXES include DOC "Folder that holds nvtx3/nvToolsExt.h")
if(NOT WM_NVTX_INCLUDE)
  message(STATUS "built without NVTX, for want of nvtx3/nvToolsExt.h, so other tools, ncu among them, will not see "
    "regions: install the CUDA toolkit, or with pip nvidia-nvtx")
endif()

# Let the library include it, as a system header.
function(wm_use_nvtx target)
  if(WM_NVTX_INCLUDE)
    target_compile_definitions(${target} PRIVATE WM_HAVE_NVTX)
    target_include_directories(${target} SYSTEM PRIVATE ${WM_NVTX_INCLUDE})
  endif()
endfunction()
