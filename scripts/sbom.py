#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a package of Trimtab holds of others, as a CycloneDX 1.6 document (JSON).

usage: sbom.py [--licences FOLDER] --output FILE.cdx.json PREFIX    of an installed tree
       sbom.py --into-wheel FILE.whl --sbom FILE.cdx.json           puts it into the wheel
       sbom.py --licences FOLDER --only-licences PREFIX             copies the licences, and writes no document

Components are the parts of LICENSES.md that are compiled in, and the Debian packages whose shared libraries the programs
under PREFIX need, with their versions. With --licences the texts of the licences of those packages are copied there.
scripts/release_sbom.py writes the same of a whole release, as SPDX. Needs cyclonedx-python-lib, for documents. Exit codes: 0 done, 2 usage, 3 bad input.
"""

import argparse
import base64
import datetime
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import uuid
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LICENCE = "Apache-2.0 WITH LLVM-exception"
# Parts of every Linux that a program is made for: a wheel leaves them to the machine, as manylinux has it.
OF_THE_SYSTEM = {"libc6", "libgcc-s1", "libstdc++6"}
HEADERS = {"CLI11": "libcli11-dev", "{fmt}": "libfmt-dev", "spdlog": "libspdlog-dev",
           "JSON for Modern C++ (nlohmann)": "nlohmann-json3-dev", "xxHash (its header)": "libxxhash-dev",
           "libstdc++ and libgcc": "gcc-12-base", "clang's table of options": "libclang-22-dev"}


def run(*words):
    """What it prints. 1 is an answer (no such package); anything above is none, and asked again: dpkg's tables may be
    written just then."""
    for _ in range(3):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode in (0, 1):
            break
        time.sleep(0.2)
    return done.stdout


@functools.cache
def version_of(package):
    return run("dpkg-query", "-W", "-f=${Version}", package).strip()


def project_version():
    return re.search(r"project\(trimtab VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def table(heading):
    """(name, licence) of the table under that heading of LICENSES.md."""
    text = (ROOT / "LICENSES.md").read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]
    if len(rows) < 3:
        raise ValueError(f"LICENSES.md: no table under '{heading}'")
    return [(re.sub(r" \(`.*?`\).*", "", cells[0]), cells[1]) for cells in rows[2:]]


def compiled_in():
    return table("Compiled into Trimtab's programs and libraries")


def linked():
    return table("Linked at run time")


@functools.cache
def owner_of(place):
    """The Debian package that a shared library is of; empty if none."""
    real = os.path.realpath(place)
    owners = (run("dpkg-query", "-S", candidate).partition(":")[0] for candidate in (place, real, real.removeprefix("/usr")))
    return next(filter(None, owners), "")


def libraries_of(prefix, programs=()):
    """Debian package -> the files of its shared libraries that programs under the prefix, and those programs, need."""
    packages = {}
    own = {path.name for path in prefix.rglob("*.so*")}
    for path in (*sorted(prefix.rglob("*")), *map(pathlib.Path, programs)):
        if not path.is_file() or path.is_symlink() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        for name, place in re.findall(r"(\S+) => (/\S+)", run("ldd", str(path))):
            if name in own:
                continue
            if owner := owner_of(place):
                # Both: a wheel's copy is called as the file is, libopenblasp-r0 for libopenblas.so.0.
                packages.setdefault(owner, set()).update((os.path.basename(place), os.path.basename(os.path.realpath(place))))
    return {package: files for package, files in packages.items() if package not in OF_THE_SYSTEM}


def copy_licences(packages, target):
    folder = pathlib.Path(target) / "licences"
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages:
        text = pathlib.Path("/usr/share/doc") / package / "copyright"
        if not text.exists():
            raise ValueError(f"{text}: there is no licence of {package}")
        shutil.copyfile(text, folder / package)


def document(prefix, licences):
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression
    from packageurl import PackageURL
    version = project_version()
    bom = Bom()
    when = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(when, datetime.timezone.utc)
    bom.metadata.component = Component(name="trimtab", version=version, type=ComponentType.APPLICATION, bom_ref="trimtab",
                                       licenses=[LicenseExpression(LICENCE)])
    texts = []
    for name, licence in compiled_in():
        package = HEADERS.get(name)
        bom.components.add(Component(
            name=name, version=version_of(package) if package else None, type=ComponentType.LIBRARY,
            bom_ref=f"compiled-in:{name}", licenses=[DisjunctiveLicense(name=licence)],
            purl=PackageURL("deb", "debian", package, version_of(package)) if package else None))
        if package:
            texts.append(package)
    for package, files in sorted(libraries_of(prefix).items()):
        bom.components.add(Component(
            name=package, version=version_of(package), type=ComponentType.LIBRARY, bom_ref=f"library:{package}",
            description="shared libraries: " + ", ".join(sorted(files)),
            purl=PackageURL("deb", "debian", package, version_of(package))))
        texts.append(package)
    if licences:
        copy_licences(texts, licences)
    bom.register_dependency(bom.metadata.component, bom.components)
    # The same content has the same number.
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"trimtab {version} " + " ".join(
        f"{c.name}={c.version}" for c in sorted(bom.components, key=lambda c: c.bom_ref.value)))
    return bom


def write(prefix, output, licences):
    from cyclonedx.output.json import JsonV1Dot6
    pathlib.Path(output).write_text(JsonV1Dot6(document(pathlib.Path(prefix), licences)).output_as_string(indent=1) + "\n")


def put_into_wheel(wheel, sbom):
    """Into .dist-info/sboms, where PEP 770 has it; entries in order, with one date, so that bytes are the same."""
    when = datetime.datetime.fromtimestamp(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800),
                                           datetime.timezone.utc)
    date = (when.year, when.month, when.day, when.hour, when.minute, when.second)
    with zipfile.ZipFile(wheel) as old:
        info = next(name.split("/")[0] for name in old.namelist() if name.endswith(".dist-info/RECORD"))
        content = {one.filename: (old.read(one), one.external_attr) for one in old.infolist() if not one.is_dir()}
    content[f"{info}/sboms/trimtab.cdx.json"] = (pathlib.Path(sbom).read_bytes(), 0o100644 << 16)
    # auditwheel's own list of what it added tells the moment, and numbers by chance.
    record = f"{info}/RECORD"
    del content[record]
    content.pop(f"{info}/sboms/auditwheel.cdx.json", None)
    lines = []
    for name, (data, _) in sorted(content.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    content[record] = ("\n".join([*lines, f"{record},,"]).encode() + b"\n", 0o100644 << 16)
    # Records come last, as the wheel's format recommends.
    order = sorted(content, key=lambda name: (name.startswith(info), name == record, name))
    with zipfile.ZipFile(wheel + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as new:
        for name in order:
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = content[name][1]
            new.writestr(entry, content[name][0])
    os.replace(wheel + ".new", wheel)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", nargs="?")
    parser.add_argument("--output")
    parser.add_argument("--licences")
    parser.add_argument("--only-licences", action="store_true")
    parser.add_argument("--into-wheel")
    parser.add_argument("--sbom")
    options = parser.parse_args()
    try:
        if options.into_wheel and options.sbom:
            put_into_wheel(options.into_wheel, options.sbom)
        elif options.prefix and options.licences and options.only_licences:
            packages = [HEADERS[name] for name, _ in compiled_in() if name in HEADERS]
            copy_licences([*packages, *libraries_of(pathlib.Path(options.prefix))], options.licences)
        elif options.prefix and options.output:
            write(options.prefix, options.output, options.licences)
        else:
            parser.error("a prefix and --output, a prefix, --licences and --only-licences, or --into-wheel and --sbom")
    except (OSError, ValueError) as error:
        print(f"sbom.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
