#!/bin/sh
# The fonts of the dashboard, from the packages @fontsource-variable/inter and @fontsource-variable/jetbrains-mono (OFL 1.1): 57 KB instead
# of 174. Weights 400 to 700 are what the page uses, no ligatures (`main.css` switches them off: what stands here quotes code), no fractions;
# of Latin Extended, the letters of European languages and the signs of currencies.
# Needs fonttools and brotli for Python (Debian: fonttools python3-brotli). Run it when a package's version changes.
set -eu
cd "$(dirname "$0")"
packages=../../node_modules/@fontsource-variable
whole=$(mktemp -d)
trap 'rm -r "$whole"' EXIT

# From, to, letters.
make() {
  pyftsubset "$packages/$1" --unicodes="$3" --layout-features='kern,mark,mkmk,ccmp,locl,tnum' --flavor=woff2 --output-file="$whole/$2"
  fonttools varLib.instancer --quiet --output "$2" "$whole/$2" wght=400:700
}
make inter/files/inter-latin-wght-normal.woff2 inter-latin.woff2 '*'
make inter/files/inter-latin-ext-wght-normal.woff2 inter-latin-ext.woff2 'U+0100-017F,U+0218-021B,U+1E9E,U+20A0-20AB,U+20AD-20C0'
make jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2 jetbrains-mono-latin.woff2 '*'
