# The built dashboard (src/admin/dashboard/, made from web/) becomes part of the program. Node is needed to build it anew, not here.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(DASHBOARD_DIR ${CMAKE_SOURCE_DIR}/src/admin/dashboard)
file(GLOB_RECURSE DASHBOARD_FILES CONFIGURE_DEPENDS ${DASHBOARD_DIR}/*)
set(DASHBOARD_SOURCE ${CMAKE_BINARY_DIR}/generated/dashboard_files.cc)
add_custom_command(
  OUTPUT ${DASHBOARD_SOURCE}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/generated
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_dashboard.py ${DASHBOARD_DIR} ${DASHBOARD_SOURCE}
  DEPENDS ${DASHBOARD_FILES} ${CMAKE_SOURCE_DIR}/tools/embed_dashboard.py
  COMMENT "Embedding the dashboard")
target_sources(hookonce_admin PRIVATE ${DASHBOARD_SOURCE})
