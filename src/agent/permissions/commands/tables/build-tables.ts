import type { Table } from "./table.ts";

/**
 * A target without an operator, which a recipe may pass to a shell; or a variable whose value holds no code of make or the shell, no
 * line end, which begins another command, and no option of a compiler that loads a plugin.
 */
const TARGET_OR_VALUE =
  /^(?:[^=\s;&|<>()$`'"\\]*|[A-Za-z_]\w*(?:[?+]|:{1,3})?=(?:(?:(?!-)[\w.,:/@%+-]+|-(?:O[0-3sgz]?|g\d?|W[a-z][a-z-]*|D\w+|[lLI][\w./-]+|std=[\w+]+|[a-z]))(?:[ \t]+|$))*)$/;
/**
 * Variables that make or its programs obey (make exports all of them), and variables that name a program by convention, if their
 * value is a path.
 */
const OBEYED =
  /^(?:(?:GNU)?MAKE\w*|MFLAGS|SHELL|PATH|BASH_ENV|IFS|LESSOPEN|NODE_(?!ENV[:?+]*=)\w+|(?:LD|DYLD|GIT|NPM|JAVA|_JAVA)_\w+|(?:PYTHON|PERL|RUBY|RUSTC)[A-Z\d]+|GO\w*FLAGS|\.\w+)[:?+]*=|^\w*(?:CC|CXX|CPP|LD|AS|AR|NM|RANLIB|STRIP|OBJCOPY|FC|LEX|YACC|RM|CP|INSTALL|PYTHON\d?|NODE|NPM|GO|CARGO|SH|CMD|COMMAND|EXEC|RUN|TOOL|COMPILER|LAUNCHER|WRAPPER|EDITOR|VISUAL|PAGER|BROWSER|RUNNER)[:?+]*=.*\/|^(?:\w*_)?(?:SUDO|SED|AWK|GREP|DIFF|JAVAC?|GIT|DOCKER|PERL|RUBY|BASH|MV|MKDIR|LN|CURL|WGET|CMAKE|RUSTC|TSC)[:?+]*=.*\//i;

/** The program of a variable of make, if it is not one of the usual programs of its kind: `CC='sh -c id'`. */
const OTHER_PROGRAM =
  /^(?:\w*_)?(?:CC|CXX|CPP|LD|AS|AR|NM|RANLIB|STRIP|OBJCOPY|FC|LEX|YACC|RM|CP|MV|LN|MKDIR|INSTALL|PYTHON\d?|NODE|NPM|GO|CARGO|RUSTC|SH|BASH|CMD|COMMAND|EXEC|COMPILER|LAUNCHER|WRAPPER|RUNNER|SUDO|SED|AWK|GREP|PERL|RUBY|JAVAC?|DOCKER|GIT|CURL|CMAKE|TSC)[:?+]*=(?!(?:(?:(?:ccache|distcc) )?(?:[\w-]+-)?(?:gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|ld(?:\.\w+)?|as|ar|nm|ranlib|strip|objcopy|gfortran|flex|bison|tcc|icc|zig cc)(?:-[\d.]+)?|python[\d.]*|node|npm|pnpm|yarn|bun|go|cargo|rustc|rm(?: -r?f)?|cp|mv|ln|mkdir(?: -p)?|install|g?sed|[gm]?awk|grep|perl|ruby|javac?|docker|podman|git|curl|cmake|tsc|\d*|true|false|yes|no|on|off)$)/i;

/** A path that stays below the working directory. */
const BELOW = /^(?![/~]|(?:.*\/)?\.\.(?:\/|$))/;

const MAKE: Table = {
  source: "GNU make 4.4",
  options:
    "BeiknpqrRsStvwd|lWo|jO||fCIE always-make ignore-errors jobs[=] keep-going load-average[=] just-print dry-run recon question no-builtin-rules no-builtin-variables silent quiet no-silent no-keep-going stop touch trace print-directory no-print-directory warn-undefined-variables output-sync[=] old-file= what-if= debug[=] print-data-base",
  others: TARGET_OR_VALUE,
  never: new RegExp(`${OBEYED.source}|${OTHER_PROGRAM.source}`, "i"),
};

const GO: Table = {
  source: "go 1.23: go help build, testflag, get, mod, list",
  oneDash: true,
  options: `- a n race msan asan cover v work x json short failfast fullpath benchmem i c u t m e deps trimpath linkshared buildvcs[=]
    p= covermode= coverpkg= coverprofile= buildmode= ldflags= mod= tags= run= skip= bench= benchtime= count= cpu= list=
    parallel= timeout= shuffle= fuzz= fuzztime= f= o= args compat= go= diff all src`,
  only: {
    "-mod": /^(?:mod|vendor|readonly)$/,
    "-coverprofile": BELOW,
    "-ldflags": /^(?:(?:-[sw]|-X[ =]?[\w./-]+=[\w./:+-]*)(?:\s+|$))*$/,
  },
  operandsOf: { run: 2 },
  first: /^(?:build|test|vet|run|fmt|mod|get|install|list|version|doc|clean|work|env|generate|help)$/,
};

const CARGO: Table = {
  source: "cargo 1.95: the help of each command",
  options: `qvr|pFj|||CZ quiet verbose release profile= package= workspace all exclude= all-targets lib bins bin= examples example=
    tests test= benches bench= features= all-features no-default-features target= jobs= message-format= color= frozen locked
    offline no-run no-fail-fast doc keep-going ignore-rust-version no-deps document-private-items fix allow-dirty
    allow-staged allow-no-vcs check dev build optional rename= precise= aggressive depth= edges= duplicates invert= format-version=
    config=! manifest-path=! target-dir=!`,
  only: { "--target": /^[\w-]+$/ },
  words: /^\+[\w.-]+$/,
  first:
    /^(?:b|build|c|check|t|test|r|run|bench|clippy|fmt|d|doc|clean|update|add|remove|rm|tree|metadata|fetch|version|search|help|nextest)$/,
  rest: {
    clippy: /^(?:-[DWAF]|(?:-[DWAF])?\w[\w:-]*)$/,
    // Its value is a file that the tests write.
    ...Object.fromEntries(["t", "test", "bench"].map((name) => [name, /^(?!--logfile)/])),
  },
};

/** Compilers: options without a value are words. */
const GCC: Table = {
  source: "gcc 12, clang 16",
  oneDash: true,
  options: "- o= c S E I= L= l= D= U= x= MF= MT= MQ= isystem= include= idirafter= iquote= arch= target=",
  words:
    /^-(?:[SEcvgPCHw]|O[0-3sgz]?|Ofast|g\d|ggdb\d?|gdwarf-?\d?|gsplit-dwarf|W(?![lap],)[\w=+-]*|[IDULl][^,]+|o.+|std=[\w+]+|ansi|pedantic(?:-errors)?|m(?!llvm)[\w=.,+-]+|M{1,2}D?|MP|MG|shared|static(?:-\w+)?|pthread|no-?pie|pie|r?dynamic|nostdlib|nostdinc|nodefaultlibs|s|pipe|print-[\w-]+|dumpversion|dumpmachine|save-temps|f(?:no-)?(?:PIC|pic|PIE|pie|sanitize(?:-recover)?=[\w,-]+|stack-protector[\w-]*|stack-clash-protection|strict-aliasing|omit-frame-pointer|exceptions|rtti|lto(?:=\w+)?|visibility=\w+|openmp|color-diagnostics|diagnostics-color(?:=\w+)?|common|asynchronous-unwind-tables|unroll-loops|inline-functions|fast-math|math-errno|data-sections|function-sections|builtin|signed-char|unsigned-char|short-enums|syntax-only|wrapv|trapv|permissive|modules|coroutines|concepts|coverage|profile-arcs|test-coverage|profile-instr-generate|coverage-mapping|cf-protection(?:=\w+)?)|-coverage|-version)$/,
  never: /^@/,
};

const NODE: Table = {
  source: "Node.js 22: node --help. A file of variables may hold NODE_OPTIONS",
  runsCode: true,
  operands: 1,
  options: `c||||epr test watch check test-only test-name-pattern= test-skip-pattern= test-concurrency= test-timeout= test-reporter=
    test-force-exit experimental-test-coverage no-warnings enable-source-maps max-old-space-size= trace-warnings trace-uncaught
    trace-deprecation trace-exit expose-gc experimental-strip-types experimental-transform-types no-deprecation
    stack-trace-limit= unhandled-rejections= inspect-brk=! import=! require=! loader=! experimental-loader=! eval=! print=! env-file=!`,
  only: { "--test-reporter": /^(?:spec|tap|dot|junit|lcov)$/ },
};

const PYTEST: Table = {
  source: "pytest 8, pytest-cov 5, pytest-xdist 3",
  options: `qvxslh|nr||km|cpoW maxfail= tb= cov[=] cov-report= cov-branch cov-append cov-fail-under= no-cov lf last-failed ff failed-first nf new-first
    sw stepwise durations= durations-min= co collect-only no-header no-summary color= disable-warnings disable-pytest-warnings
    strict-markers strict-config verbose quiet exitfirst capture= numprocesses= dist= timeout= reruns= showlocals keyword==
    setup-show fixtures markers deselect= ignore= ignore-glob= runxfail no-showlocals import-mode=! rootdir=! basetemp=! junitxml=!`,
  only: {
    "--cov-report": new RegExp(
      `^(?:\\w+(?:-missing)?)?(?::skip-covered)?(?::${BELOW.source.slice(1)}.*)?$`,
      "s",
    ),
  },
  // A file of options.
  never: /^@/,
};

const PIP: Table = {
  source: "pip 24",
  options: `qvUIy|erc quiet verbose upgrade editable= requirement= constraint= no-deps pre user force-reinstall no-cache-dir no-input
    disable-pip-version-check yes progress-bar= only-binary= no-binary= no-build-isolation upgrade-strategy= format= outdated
    uptodate local not-required exclude= dry-run require-hashes no-warn-script-location no-color break-system-packages`,
  notFirst: /^config$/,
};

/** The words after the name of a module are its own: `python3 -m pytest` is checked as pytest. */
const PYTHON: Table = {
  source: "CPython 3.12",
  runsCode: true,
  operands: 1,
  options: "bBdEiIOPqRsSuv||||cmWX",
  only: {
    "-W": /^(?:error|ignore|always|default|once|module)$/,
    "-X": /^(?:dev|utf8|faulthandler|importtime|tracemalloc)(?:=\d+)?$/,
  },
};

/** Python's module: the second operand is a file that it writes. */
const JSON_TOOL: Table = {
  source: "CPython 3.12",
  options: "h help sort-keys no-ensure-ascii json-lines indent= tab no-indent compact",
  second: /^(?!)/,
};

/** Programs that build, test and run code. */
export const BUILD_TABLES: Readonly<Record<string, Table>> = {
  make: MAKE,
  go: GO,
  cargo: CARGO,
  gcc: GCC,
  node: NODE,
  pytest: PYTEST,
  pip: PIP,
  python: PYTHON,
  "json.tool": JSON_TOOL,
};
