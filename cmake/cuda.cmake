# CUDA's headers (never its libraries): the toolkit's, or those of the packages nvidia-cuda-cupti and
# nvidia-cuda-runtime beside python3. Without them the library is built without its cuda backend.
find_path(WM_CUDA_INCLUDE cuda.h HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include
  DOC "Folder that holds cuda.h")
find_path(WM_CUPTI_INCLUDE cupti_range_profiler.h HINTS ${WM_CUDA_INCLUDE} ${WM_CUDA_INCLUDE}/../extras/CUPTI/include
  DOC "Folder that holds cupti_range_profiler.h (CUPTI 12.6 or newer)")
if(NOT WM_CUDA_INCLUDE OR NOT WM_CUPTI_INCLUDE)
  find_program(WM_PYTHON python3)
  if(WM_PYTHON)
    execute_process(COMMAND ${WM_PYTHON} -c
        "import nvidia; [print(p, end=';') for p in nvidia.__path__]"
      OUTPUT_VARIABLE packages ERROR_QUIET)
    foreach(package ${packages})
      file(GLOB folders ${package}/*/include)
      find_path(WM_CUDA_INCLUDE cuda.h PATHS ${folders} NO_DEFAULT_PATH)
      find_path(WM_CUPTI_INCLUDE cupti_range_profiler.h PATHS ${folders} NO_DEFAULT_PATH)
    endforeach()
  endif()
endif()
set(WM_HAVE_CUDA OFF)
if(WM_CUDA_INCLUDE AND WM_CUPTI_INCLUDE)
  set(WM_HAVE_CUDA ON)
  # cupti_profiler_host.h includes <string> and uses nothing of it.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/cuda-include)
  file(WRITE ${PROJECT_BINARY_DIR}/cuda-include/string "")
endif()
message(STATUS "CUDA headers: ${WM_CUDA_INCLUDE} ${WM_CUPTI_INCLUDE}")
if(NOT WM_HAVE_CUDA)
  message(STATUS "built without the cuda backend: install the CUDA toolkit, or python3's nvidia-cuda-cupti "
    "and nvidia-cuda-runtime, or set WM_CUDA_INCLUDE and WM_CUPTI_INCLUDE")
endif()

# Let a target include CUDA's headers. They are system headers: their warnings are not ours.
function(wm_use_cuda target)
  if(WM_HAVE_CUDA)
    target_compile_definitions(${target} PRIVATE WM_HAVE_CUDA)
    target_include_directories(${target} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/cuda-include ${WM_CUPTI_INCLUDE}
      ${WM_CUDA_INCLUDE})
  endif()
endfunction()
