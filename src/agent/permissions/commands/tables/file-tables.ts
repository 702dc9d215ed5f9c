import type { Table } from "./table.ts";

const COREUTILS = "GNU coreutils 9.1";
const BACKUP = "backup[=] target-directory= no-target-directory verbose force interactive";
/** A name with a colon is an archive on another machine, to which tar starts a shell. */
const LOCAL = /^[^:]*$/;

const TAR: Table = {
  source: "GNU tar 1.34, libarchive's bsdtar 3.6",
  // -T reads names from a file, in which GNU tar obeys options. -W is any long option in bsdtar.
  options: `cxtruvzjJZahkmOpSilB|CfXb|||FITW|P create extract get list append update verbose gzip gunzip ungzip bzip2 xz lzma zstd
    auto-compress file= directory= exclude= exclude-from= exclude-vcs exclude-vcs-ignores exclude-caches strip-components=
    wildcards no-wildcards anchored no-anchored ignore-case same-owner no-same-owner preserve-permissions same-permissions
    no-same-permissions keep-old-files skip-old-files keep-newer-files overwrite touch numeric-owner owner= group= mode= mtime=
    format= sort= one-file-system dereference to-stdout no-recursion recursion totals warning= ignore-failed-read acls no-acls
    xattrs no-xattrs newer= newer-mtime= diff compare unlink-first utc full-time ignore-zeros sparse`,
  only: { "-f": LOCAL, "--file": LOCAL },
};

/** Programs that copy, move, pack and find files. */
export const FILE_TABLES: Readonly<Record<string, Table>> = {
  cp: {
    source: COREUTILS,
    options: `abdfHilLnPpRrsTuvx|t|||S archive attributes-only link dereference no-clobber no-dereference preserve[=] no-preserve= parents recursive reflink[=] remove-destination sparse= strip-trailing-slashes symbolic-link update[=] one-file-system ${BACKUP}`,
  },
  mv: {
    source: COREUTILS,
    options: `bfinTuv|t|||S no-clobber strip-trailing-slashes update[=] ${BACKUP}`,
  },
  ln: {
    source: COREUTILS,
    options: `bdfFinLPrsTv|t|||S directory logical no-dereference physical relative symbolic ${BACKUP}`,
  },
  install: {
    source: COREUTILS,
    options: `bcCDdpsTv|gmot|||S compare directory group= mode= owner= preserve-timestamps strip ${BACKUP}`,
  },
  split: {
    source: `${COREUTILS}: --filter is a command`,
    options: `#dexu|abClnt suffix-length= additional-suffix= bytes= line-bytes= lines= number= numeric-suffixes[=]
      hex-suffixes[=] elide-empty-files separator= unbuffered verbose`,
  },
  tar: TAR,
  zip: {
    source: "Info-ZIP 3.0. Two letters can be one option: -TT, -lf",
    options: "0123456789rqvjyDXuexi|P recurse-paths quiet exclude[=]",
  },
  unzip: { source: "Info-ZIP 6.0", options: "cflnoqtvpajuzLCMVXx|dP" },
  rsync: {
    source:
      "rsync 3.2: it gives the name of a host to ssh, which takes `-oProxyCommand=x` for an option, also in `me@-oProxyCommand=x:`",
    never: /^(?:[^/:]*@)?-./,
    options: `vqcarRbulLkKHpEXogtDOJSnWxzhPiCA0468mUNy|fB|||eMT archive verbose quiet delete exclude= include= exclude-from=
      include-from= dry-run progress partial compress human-readable stats itemize-changes checksum recursive links perms times
      owner group update ignore-existing existing size-only info= chmod= bwlimit= timeout= max-size= min-size= delete-after
      delete-during delete-before delete-excluded delete-delay force numeric-ids one-file-system whole-file inplace append
      hard-links relative mkpath prune-empty-dirs copy-links safe-links list-only out-format= port= acls xattrs devices
      specials omit-dir-times ignore-errors fuzzy compress-level= no-owner no-group no-perms no-times no-links no-relative`,
  },
};
