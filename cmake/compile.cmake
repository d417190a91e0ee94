# How everything in this project is compiled: warnings, sanitizers, and the facts about the build that
# the library keeps: they go into every table, and tell where the metric groups are.
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow>")
add_compile_options("$<$<COMPILE_LANGUAGE:C>:-Wconversion;-Wstrict-prototypes;-Wmissing-prototypes>")
if(WM_WERROR)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Werror>")
endif()
# No path of the machine that built it ends up in a release. Debuggers want the true paths.
add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<NOT:$<CONFIG:Debug>>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>")

if(WM_SANITIZE)
  add_compile_options(-fsanitize=${WM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WM_SANITIZE})
endif()

string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
string(STRIP "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}" flags)
string(REPLACE "\"" "'" flags "${flags}")
set(WM_BUILD_FACTS
  WM_BUILD_COMPILER="${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
  WM_BUILD_FLAGS="${flags}"
  WM_BUILD_TYPE="${CMAKE_BUILD_TYPE}"
  WM_INSTALL_METRICS_DIR="${CMAKE_INSTALL_FULL_DATADIR}/warpmeter/metrics")
