# What `cmake --install` puts where: the program with the scenarios that it and its user need, and the library with
# headers, a CMake package and a pkg-config file. `cpack` makes a Debian package of each (docs/install.md).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS skein_app COMPONENT program)
install(DIRECTORY scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/skein COMPONENT program)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)

set(development COMPONENT development)
install(TARGETS skein EXPORT SkeinTargets ${development} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# But those of one source file: kernels, and a reader that shows the headers of others.
install(DIRECTORY skein ${PROJECT_BINARY_DIR}/generated/skein DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${development}
  FILES_MATCHING PATTERN *.h REGEX "(toml_reader|kernels_[a-z0-9_]+)\\.h$" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libskein-dev RENAME copyright ${development})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libskein-dev ${development})

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/Skein)
configure_package_config_file(cmake/SkeinConfig.cmake.in ${PROJECT_BINARY_DIR}/SkeinConfig.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SkeinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT SkeinTargets NAMESPACE skein:: DESTINATION ${package_directory} ${development})
install(FILES ${PROJECT_BINARY_DIR}/SkeinConfig.cmake ${PROJECT_BINARY_DIR}/SkeinConfigVersion.cmake
  DESTINATION ${package_directory} ${development})

# Relative, so that an installed tree can be moved.
set(pc_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH SKEIN_PREFIX_FROM_PC /prefix/${pc_directory} /prefix)
string(REGEX REPLACE "/$" "" SKEIN_PREFIX_FROM_PC "${SKEIN_PREFIX_FROM_PC}")
configure_file(cmake/skein.pc.in ${PROJECT_BINARY_DIR}/skein.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/skein.pc DESTINATION ${pc_directory} ${development})

# Dependencies of the program are found by dpkg-shlibdeps; those of who links the library are named.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME skein)
set(CPACK_PACKAGE_CONTACT "Skein's maintainers <maintainers@skein.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME skein)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "dataset-fashion-mnist, gnuplot-nox")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libskein-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libfmt-dev, nlohmann-json3-dev, libtomlplusplus-dev, zlib1g-dev, libpng-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "${PROJECT_DESCRIPTION}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${PROJECT_DESCRIPTION}: headers and static library")
include(CPack)
