# Target amaxscope_nvtx: the NVTX 3 headers (header-only, loader sequence 2 or later: static injection works).
# Searched in the CUDA toolkit, then in AMAXSCOPE_NVTX_DIR (packaging/setup.sh unpacks the PyPI package
# nvidia-nvtx there). Without either, ranges are recorded without NVTX and the configure log says so.
set(AMAXSCOPE_NVTX_DIR "" CACHE PATH "Folder that holds nvtx3/nvToolsExt.h")
find_path(AMAXSCOPE_NVTX_INCLUDE nvtx3/nvToolsExt.h
  HINTS ${AMAXSCOPE_NVTX_DIR} $ENV{AMAXSCOPE_NVTX_DIR} $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
        /usr/local/cuda/include ${CMAKE_SOURCE_DIR}/build/nvtx/include)
add_library(amaxscope_nvtx INTERFACE)
if(AMAXSCOPE_NVTX_INCLUDE)
  message(STATUS "NVTX 3 headers: ${AMAXSCOPE_NVTX_INCLUDE}")
  target_include_directories(amaxscope_nvtx SYSTEM INTERFACE ${AMAXSCOPE_NVTX_INCLUDE})
  target_compile_definitions(amaxscope_nvtx INTERFACE AMAXSCOPE_NVTX=1)
  target_link_libraries(amaxscope_nvtx INTERFACE ${CMAKE_DL_LIBS})
else()
  message(STATUS "NVTX 3 headers: not found; ranges are recorded without NVTX "
                 "(set AMAXSCOPE_NVTX_DIR, or install the CUDA toolkit or the PyPI package nvidia-nvtx)")
endif()
