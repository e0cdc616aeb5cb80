# The Debian package says what it needs: in a system that has nothing else, README's program builds and runs, with CMake and by
# pkg-config. Needs root, mmdebstrap and the package archive; where that is not permitted the package itself is looked at only.
include(${here}/steps.cmake)
set(folder ${build}/deb)
file(REMOVE_RECURSE ${folder}/packages)
run(${CMAKE_COMMAND} -E make_directory ${folder}/packages)
run(${CMAKE_COMMAND} --build ${build} --target coordkit_product_static coordkit_product_sim coordkit_product_compare
    coordkit_product_testing coordkit_product_tls coordkit_product_c coordctl coordkit-certificates)
run(cpack -G DEB --config ${build}/CPackConfig.cmake -B ${folder}/packages)
file(GLOB package ${folder}/packages/libcoordkit-dev_*.deb)
run_for_output(output dpkg-deb --info ${package})
expect("the package" "${output}" "Depends: libabsl-dev \\(>= [0-9]+\\), libabsl-dev \\(<< [0-9]+\\), libfmt-dev .*, liblmdb-dev")
run_for_output(output dpkg-deb --contents ${package})
expect("the package" "${output}" "/usr/include/coordkit/coordkit\\.h")
expect("the package" "${output}" "/usr/share/doc/coordkit/README\\.md")

file(GLOB tools ${folder}/packages/coordkit-tools_*.deb)
run_for_output(output dpkg-deb --info ${tools})
expect("the operators' package" "${output}" "Depends: .*liblmdb0")
expect_not("the operators' package" "${output}" "-dev")
run_for_output(output dpkg-deb --contents ${tools})
expect("the operators' package" "${output}" "/usr/bin/coordctl")
expect("the operators' package" "${output}" "/usr/bin/coordkit-certificates")

file(GLOB remote ${folder}/packages/libcoordkit-c0.1_*.deb)
run_for_output(output dpkg-deb --info ${remote})
expect("the package for C" "${output}" "Depends: .*libc6")
expect_not("the package for C" "${output}" "-dev")
run_for_output(output dpkg-deb --contents ${remote})
expect("the package for C" "${output}" "/libcoordkit_c\\.so\\.0\\.1 -> ")

find_program(mmdebstrap mmdebstrap)
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT mmdebstrap OR NOT user STREQUAL "0")
  message("skipped: a bare Debian needs root and mmdebstrap")
  return()
endif()
set(root ${folder}/root)
if(NOT EXISTS ${root}/usr/bin/cmake)
  # In a mount namespace of its own, and never across file systems: no accident may reach the /dev of this machine.
  run(rm -rf --one-file-system ${root})
  # Of the suite that this machine has, because the package asks for its versions of Abseil and fmt.
  file(STRINGS /etc/os-release suite REGEX "^VERSION_CODENAME=")
  string(REPLACE "VERSION_CODENAME=" "" suite "${suite}")
  execute_process(COMMAND unshare --mount --propagation private ${mmdebstrap} --quiet --variant=minbase --mode=root
                          --include=g++,cmake,ninja-build,pkg-config,ca-certificates ${suite} ${root} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    run(rm -rf --one-file-system ${root})
    message("skipped: no bare Debian could be made here")
    return()
  endif()
endif()
file(REMOVE_RECURSE ${root}/packages ${root}/consumers)
file(COPY ${package} DESTINATION ${root}/packages)
readme_project(${root}/consumers/readme)
file(COPY ${here}/one_lock.cc ${here}/one_lock.h ${source}/tests/system/examples/quick_start.sh DESTINATION ${root}/consumers)
file(WRITE ${root}/consumers/run "set -e
apt-get purge --auto-remove -y libcoordkit-dev >/dev/null 2>&1 || true
apt-get update -qq
apt-get install -y -qq --no-install-recommends /packages/*.deb >/dev/null
cd /consumers
cmake -S readme -B readme/build -G Ninja -DCMAKE_CXX_FLAGS='${warnings}'
cmake --build readme/build
bash quick_start.sh /consumers/readme/build/quick_start /consumers/readme/run
g++ -std=c++20 ${warnings} one_lock.cc -o one_lock $(pkg-config --cflags --libs coordkit)
./one_lock
")
# How packages are fetched here, and nothing else of this machine.
file(COPY_FILE /etc/resolv.conf ${root}/etc/resolv.conf RESULT ignored)
file(GLOB settings /etc/apt/apt.conf.d/*)
foreach(setting IN LISTS settings)
  file(STRINGS ${setting} lines REGEX "^ *Acquire::")
  if(lines)
    file(COPY ${setting} DESTINATION ${root}/etc/apt/apt.conf.d)
  endif()
endforeach()
run_for_output(output unshare --mount --propagation private sh -c
               "mount -t proc proc \"$1/proc\" && mount --rbind /dev \"$1/dev\" && exec chroot \"$1\" env -u TMPDIR DEBIAN_FRONTEND=noninteractive bash /consumers/run"
               sh ${root})
expect("README's program in a bare Debian" "${output}" "the others went on")
expect("a program made with pkg-config in a bare Debian" "${output}" "coordkit [0-9.]+, token [1-9]")
