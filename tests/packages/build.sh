dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
#dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
!dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
vdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
#dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
2dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
0dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
#dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
,dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
#dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
,dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
(dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
(dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
0dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
)dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
&dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
&dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
)dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
(dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
)dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
(dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
2dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
)dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
(dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
)dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
>dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
<dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
<dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
vdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
qdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
qdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ydpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
qdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
qdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
vdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
>dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
2dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
>dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
&dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
{dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
}dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ydpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
qdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
qdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
>dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
2dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
>dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
&dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
{dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
}dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
#dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
,dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ydpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
(dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
)dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
,dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
zdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
>dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
vdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
>dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
2dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
>dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
&dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
{dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
2dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
6dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
0dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
2dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
0dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
}dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
vdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
*dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
*dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
*dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
{dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
}dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
\dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
	dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
vdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
0dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ydpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
3dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ydpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
(dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
&dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
&dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
*dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
{dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
%dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
%dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
*dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
}dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
\dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
'dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
)dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
[dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
=dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
wdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
]dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
{dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
}dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
6dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
6dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
2dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
	dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
*dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
qdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
*dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
_dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
|dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
	dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
	dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
{dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
Ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
:dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
mdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
xdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
1dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
;dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
}dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ddpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
rdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
bdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
udpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
tdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
odpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
-dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
fdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
idpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ldpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
 dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
$dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
pdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
kdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
"dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
/dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
*dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
.dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
cdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
hdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
adpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
ndpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
gdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
edpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
sdpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done

dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
