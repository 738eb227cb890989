# build_info.h for `hookonce version`: made anew at each build, because the commit changes without CMake's being run again, and written
# only where it differs, so that nothing is compiled in vain.
#
# Included by CMakeLists.txt it adds the target; run as a script (cmake -P) it writes the header.
if(CMAKE_SCRIPT_MODE_FILE)
  set(BUILD_COMMIT "unknown")
  find_program(GIT git)
  if(GIT AND EXISTS ${SOURCE_DIR}/.git)
    # Without locks: a build must never get into the way of a commit.
    execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --short=12 HEAD
                    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE_DIR} status --porcelain --untracked-files=no
                      OUTPUT_VARIABLE changes ERROR_QUIET)
      set(BUILD_COMMIT ${head})
      if(changes)
        string(APPEND BUILD_COMMIT "+changes")
      endif()
    endif()
  endif()
  configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
  return()
endif()

set(BUILD_INFO_DIR ${CMAKE_BINARY_DIR}/generated)
add_custom_target(hookonce_build_info
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE_DIR=${CMAKE_SOURCE_DIR} -DTEMPLATE=${CMAKE_SOURCE_DIR}/cmake/build_info.h.in -DOUTPUT=${BUILD_INFO_DIR}/cli/build_info.h
    -DBUILD_VERSION=${PROJECT_VERSION} -DBUILD_BOOST=${Boost_VERSION_STRING} -DBUILD_CURL=${CURL_VERSION_STRING}
    -DBUILD_OPENSSL=${OPENSSL_VERSION} -DBUILD_SQLITE=${SQLite3_VERSION} -DBUILD_LIBPQ=${libpq_VERSION}
    -DBUILD_FMT=${fmt_VERSION}
    -DBUILD_CLI11=${CLI11_VERSION} -DBUILD_TOMLPLUSPLUS=${tomlplusplus_VERSION}
    -P ${CMAKE_SOURCE_DIR}/cmake/BuildInfo.cmake
  BYPRODUCTS ${BUILD_INFO_DIR}/cli/build_info.h
  COMMENT "Looking at the commit")
add_dependencies(hookonce_cli hookonce_build_info)
# For the one file that reads it: a path into the build tree would keep ccache from sharing the others between build trees.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/cli/cmd_version.cc ${CMAKE_SOURCE_DIR}/src/cli/cmd_completion.cc
  PROPERTIES INCLUDE_DIRECTORIES ${BUILD_INFO_DIR})
