#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the files of a release hold of others, as an SPDX 2.3 document (JSON).

usage: release_sbom.py --output FILE.spdx.json [--program FILE]... [--validate] PREFIX ARCHIVE...

PREFIX is an installed tree; --program names further programs that archives hold (the wheel's clang). Packages of the
document are Trimtab, each ARCHIVE (.whl, .deb, .tar.gz) with its SHA-256, the parts of LICENSES.md that are compiled in,
and the Debian packages whose shared libraries the programs need. An archive CONTAINS a library whose file is in it, and
DEPENDS_ON the others that its programs need. --validate reads the document again with spdx-tools, which must be there.
SOURCE_DATE_EPOCH is the document's date. Exit codes: 0 done, 1 the document is not valid, 2 usage, 3 bad input.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import uuid
import zipfile

from sbom import HEADERS, LICENCE, compiled_in, libraries_of, linked, project_version, version_of

# LICENSES.md is for readers: what SPDX calls its licences, where it has another name.
EXPRESSIONS = {
    "BSD-3-Clause; ISC, MIT": "BSD-3-Clause AND ISC AND MIT",
    "Apache-2.0 WITH LLVM-exception, or MIT, or NCSA": "Apache-2.0 WITH LLVM-exception OR MIT OR NCSA",
    "GPL-3.0 with the GCC Runtime Library Exception": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "public domain": "blessing",
}
# The Debian packages of the rows of its second table.
LINKED = {"libllvm22": "LLVM 22", "libclang-cpp22": "LLVM 22", "libclang1-22": "LLVM 22", "libfmt": "{fmt}",
          "libopenblas": "OpenBLAS, LAPACKE", "liblapacke": "OpenBLAS, LAPACKE", "libsqlite3": "SQLite", "libtbb": "oneTBB",
          "libhiredis": "hiredis", "libssl3": "OpenSSL (libcrypto)", "libzstd1": "zstd", "liblz4-1": "LZ4"}
EXPRESSION = re.compile(r"[\w.+-]+( (WITH|AND|OR) [\w.+-]+)*")


def expression(text):
    found = EXPRESSIONS.get(text, text)
    if not EXPRESSION.fullmatch(found):
        raise ValueError(f"LICENSES.md: '{text}' is no SPDX expression: add it to EXPRESSIONS of scripts/release_sbom.py")
    return found


def identifier(*parts):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(parts)).strip("-")


def names_in(archive):
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.namelist()
    if archive.suffix == ".deb":
        listing = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], capture_output=True, check=True).stdout
        paths = subprocess.run(["tar", "-t"], input=listing, capture_output=True, check=True).stdout
        return paths.decode().splitlines()
    if archive.name.endswith(".tar.gz"):
        with tarfile.open(archive) as bundle:
            return bundle.getnames()
    raise ValueError(f"{archive}: no .whl, .deb or .tar.gz")


def holds(names, libraries):
    """Whether one of the shared libraries is in there. auditwheel puts part of a hash into their names."""
    for library in libraries:
        base, _, rest = library.partition(".")
        wanted = re.compile(rf"(?:.*/)?{re.escape(base)}(?:-[0-9a-f]{{8}})?\.{re.escape(rest)}")
        if any(wanted.fullmatch(name) for name in names):
            return True
    return False


def package(name, version, licence, **more):
    return {"name": name, "SPDXID": identifier(name, version or "0") if "SPDXID" not in more else more.pop("SPDXID"),
            **({"versionInfo": version} if version else {}), "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def debian(name, version):
    """Of Debian's source and version: purl's form."""
    return {"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}"}]}


def document(prefix, programs, archives):
    version = project_version()
    root = package("trimtab", version, LICENCE, SPDXID=identifier("trimtab"))
    packages, relations = [root], [("SPDXRef-DOCUMENT", "DESCRIBES", root["SPDXID"])]
    for name, licence in compiled_in():
        header = HEADERS.get(name)
        part = package(name, version_of(header) if header else None, expression(licence), SPDXID=identifier("compiled-in", name),
                       **(debian(header, version_of(header)) if header else {}))
        packages.append(part)
        relations.append((root["SPDXID"], "CONTAINS", part["SPDXID"]))
    licences = {name: expression(licence) for name, licence in linked()}
    libraries = []
    for name, files in sorted(libraries_of(prefix, programs).items()):
        row = next((row for start, row in LINKED.items() if name.startswith(start)), None)
        part = package(name, version_of(name), licences[row] if row else "NOASSERTION", SPDXID=identifier("library", name),
                       comment="shared libraries: " + ", ".join(sorted(files)), **debian(name, version_of(name)))
        libraries.append((part, files))
    packages += [part for part, _ in libraries]
    own = set(libraries_of(prefix, []))
    for archive in sorted(archives):
        data = archive.read_bytes()
        file = package(archive.name, version, LICENCE, SPDXID=identifier("file", archive.name), packageFileName=archive.name,
                       checksums=[{"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}])
        packages.append(file)
        relations += [("SPDXRef-DOCUMENT", "DESCRIBES", file["SPDXID"]), (file["SPDXID"], "CONTAINS", root["SPDXID"])]
        names = names_in(archive)
        for part, files in libraries:
            if holds(names, files):
                relations.append((file["SPDXID"], "CONTAINS", part["SPDXID"]))
            elif archive.suffix == ".deb" and part["name"] in own:
                relations.append((file["SPDXID"], "DEPENDS_ON", part["SPDXID"]))
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    # The same content has the same name.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([packages, relations]))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"trimtab-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/trimtab-{version}-{number}",
            "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: trimtab-scripts-release_sbom.py"]},
            "packages": packages,
            "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                              for one, kind, other in relations]}


def problems(path):
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
    return [message.validation_message for message in validate_full_spdx_document(parse_file(str(path)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("archives", nargs="*", type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--program", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--validate", action="store_true")
    options = parser.parse_args()
    try:
        if not options.prefix.is_dir():
            raise ValueError(f"{options.prefix}: no such folder")
        text = json.dumps(document(options.prefix, options.program, options.archives), indent=1)
        options.output.write_text(text + "\n")
        found = problems(options.output) if options.validate else []
    except (OSError, ValueError, ImportError, subprocess.CalledProcessError, zipfile.BadZipFile, tarfile.TarError) as error:
        print(f"release_sbom.py: {error}", file=sys.stderr)
        return 3
    for problem in found:
        print(f"release_sbom.py: {options.output}: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
