# What `cmake --install` puts where. All of it is found from where it lies: the tree can be moved.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warpmeter)

install(TARGETS warpmeter EXPORT warpmeter-shared LIBRARY NAMELINK_COMPONENT development)
install(TARGETS warpmeter_static EXPORT warpmeter-static)
install(TARGETS warpmeter_tool)
install(FILES include/warpmeter.h TYPE INCLUDE)
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY metrics DESTINATION ${CMAKE_INSTALL_DATADIR}/warpmeter FILES_MATCHING PATTERN "*.metrics")
install(DIRECTORY docs/ TYPE DOC FILES_MATCHING PATTERN "*.md" PATTERN man EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md TYPE DOC)

# The tool finds the library beside itself, wherever both were put.
file(RELATIVE_PATH lib_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(warpmeter_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")

# pkg-config
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/warpmeter.pc.in warpmeter.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/warpmeter.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# find_package(warpmeter). The static library's targets are a file of their own: they need jansson.
configure_package_config_file(cmake/warpmeter-config.cmake.in warpmeter-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(warpmeter-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warpmeter-config.cmake ${PROJECT_BINARY_DIR}/warpmeter-config-version.cmake
  DESTINATION ${package_dir})
foreach(kind shared static)
  install(EXPORT warpmeter-${kind} NAMESPACE warpmeter:: DESTINATION ${package_dir})
endforeach()
