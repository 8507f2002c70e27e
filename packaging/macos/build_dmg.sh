#!/usr/bin/env bash
# Packs build/bundle/desktop-rag.app into a disk image, beside a link to the Applications folder.
#
#     IDENTITY="Developer ID Application: …" packaging/macos/build_dmg.sh
#
# With IDENTITY the app is signed for the hardened runtime; docs/packaging.md has the steps after that.
set -euo pipefail
cd "$(dirname "$0")/../.."
app=build/bundle/desktop-rag.app
version=$(/usr/libexec/PlistBuddy -c 'Print CFBundleShortVersionString' "$app/Contents/Info.plist")
if [ -n "${IDENTITY:-}" ]; then
    # From the inside out: the seal of the app covers its libraries.
    find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' \) -print0 \
        | xargs -0 codesign --force --timestamp --options runtime --sign "$IDENTITY"
    codesign --force --timestamp --options runtime --sign "$IDENTITY" \
        --entitlements packaging/macos/entitlements.plist "$app"
    codesign --verify --deep --strict "$app"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ditto "$app" "$folder/desktop-rag.app"
ln -s /Applications "$folder/Applications"
hdiutil create -volname desktop-rag -srcfolder "$folder" -format ULFO -ov "build/desktop-rag-$version.dmg"
