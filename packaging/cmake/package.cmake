# Installation of everything that is not a program, and the .deb: run
#   cmake --preset release && cmake --build --preset release && (cd build/release && cpack)
# packaging/linux/check_deb.sh installs the result in a bare system and starts it.
set(amaxscope_id org.amaxscope.Amaxscope)
set(amaxscope_linux ${CMAKE_SOURCE_DIR}/packaging/linux)
if(AMAXSCOPE_GUI AND UNIX AND NOT APPLE)
  install(FILES ${amaxscope_linux}/${amaxscope_id}.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES ${amaxscope_linux}/${amaxscope_id}.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
  install(FILES ${amaxscope_linux}/${amaxscope_id}.mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages
    RENAME ${amaxscope_id}.xml)
  install(FILES ${CMAKE_SOURCE_DIR}/resources/icons/amaxscope.svg
    DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()
install(FILES ${amaxscope_linux}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/amaxscope)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md
  ${CMAKE_SOURCE_DIR}/resources/docs/user-guide.md ${CMAKE_SOURCE_DIR}/resources/docs/numbers.md
  ${CMAKE_SOURCE_DIR}/resources/docs/file-format.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/amaxscope)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME amaxscope)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Amaxscope developers <amaxscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Profiler and training visualizer for FP8 Transformers")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Amaxscope trains small Transformers in FP32, BF16 and FP8, records every
tensor's amax and scale, and shows throughput and numerical stability side by
side. The package holds the window (amaxscope) and the command line
(amaxscope-cli), which needs no display.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# Libraries are found in the programs. libqt6gui6 brings the xcb and offscreen platforms with all they need; what is
# loaded at run time and thus unseen by dpkg-shlibdeps: the SVG icon engine, and a font.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libqt6svg6, fontconfig, fonts-dejavu-core | fonts-noto-core")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "qt6-wayland")
include(CPack)
