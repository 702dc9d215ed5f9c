import { isPlainQuery } from "./sql.ts";
import type { Table } from "./table.ts";
import { ASSIGNS, HARMLESS_LOCAL, HARMLESS_VARIABLE } from "./variables.ts";

const SHELLS = "bash 5.2, zsh 5.9, dash 0.5, fish 3.6";
const EXPORT: Table = { source: SHELLS, options: "np", others: HARMLESS_VARIABLE };
// -i and -F evaluate the value as arithmetic, as integer and float do: `declare -i x=PATH=5` sets PATH.
const DECLARE: Table = { source: SHELLS, options: "aAfglprux", others: HARMLESS_LOCAL };
const CALCULATES: Table = { source: SHELLS, options: "-", others: /^(?!)/ };
const NUMBER = /^[\d.]*$/;
/** zsh evaluates the word as arithmetic: `shift PATH=5` sets PATH. A value that only the shell knows (`exit $?`) asks elsewhere. */
const COUNT: Table = { source: SHELLS, options: "#", others: /^(?:\d*|\$\?|\ufffc)$/ };
/** zsh evaluates the word after `-t` as arithmetic; most other words are text. */
const TEST: Table = {
  source: SHELLS,
  options: "|t",
  words: /^-(?!t$)/,
  only: { "-t": /^(?:\d*|\])$/ },
  // An index is evaluated, too.
  never: /^-t$|^[A-Za-z_]\w*\[[^\]]*[A-Za-z_]/,
};

/** Commands that set variables. */
const VARIABLE_TABLES: Readonly<Record<string, Table>> = {
  export: EXPORT,
  declare: DECLARE,
  typeset: DECLARE,
  local: DECLARE,
  readonly: DECLARE,
  integer: CALCULATES,
  float: CALCULATES,
  unset: { source: SHELLS, options: "v", others: HARMLESS_LOCAL },
  // zsh's -n has no value, so the next word is a variable.
  read: {
    source: SHELLS,
    options: "ers|dNnptu",
    only: { "-n": NUMBER, "-N": NUMBER, "-t": NUMBER, "-u": NUMBER },
    others: HARMLESS_LOCAL,
  },
  // -C runs a command.
  mapfile: { source: SHELLS, options: "t|dnOsu", others: HARMLESS_LOCAL },
  readarray: { source: SHELLS, options: "t|dnOsu", others: HARMLESS_LOCAL },
  getopts: { source: SHELLS, options: "-", second: HARMLESS_LOCAL },
  let: CALCULATES,
  // -v and %n set a variable.
  printf: { source: SHELLS, options: "|v", operands: 1, only: { "-v": HARMLESS_LOCAL }, never: ASSIGNS },
  // -v sets a variable, -f is a format of printf, -s, -S and -z reach the history or the next line.
  print: { source: SHELLS, options: "abcilnNoOrR|u", operands: 1, only: { "-u": NUMBER } },
  test: TEST,
  "[": TEST,
  shift: COUNT,
  exit: COUNT,
  return: COUNT,
  break: COUNT,
  continue: COUNT,
  logout: COUNT,
  bye: COUNT,
  // -x runs its words.
  jobs: { source: SHELLS, options: "lnprs" },
  // -C, -F and -W run code.
  compgen: { source: SHELLS, options: "abcdefgjksuv|Ao" },
  // -p, and `name=path` in zsh, give a name another program.
  hash: { source: SHELLS, options: "rlt", never: /=/ },
  // -f loads a library.
  enable: { source: SHELLS, options: "aps" },
  // -a and -w write a file, -s and -p put words into the history, which fc runs.
  history: { source: SHELLS, options: "c|d", first: /^(?:\d+|search)$/ },
  fc: { source: SHELLS, options: "#lnr", first: /^(?!)/ },
  // Without a job, bash removes the variable of -p, and then finds programs in the working directory.
  wait: { source: SHELLS, options: "nf|p", only: { "-p": HARMLESS_LOCAL } },
  // The words of fish's set are a variable and its value.
  set: {
    source: SHELLS,
    options: "efuvxCEh|o",
    first: /^(?!)/,
    only: { "-o": /^(?:pipefail|errexit|nounset|xtrace|noclobber|noglob|verbose)$/ },
  },
  setenv: { source: SHELLS, options: "-", first: HARMLESS_VARIABLE },
};

/** Dot-commands of sqlite3 that show something, in full: it accepts abbreviations. */
const SQLITE_DOT =
  /^\s*\.(?:tables|schema|fullschema|indexes|indices|databases|dump|mode|headers?|width|separator|nullvalue|stats|timer|changes|echo|eqp|explain|show|help|version|quit|exit|bail|limit|dbinfo|sha3sum|print)(?:\s[^\n|!]*)?$/;
/** The same as a value: a statement, which `isPlainQuery` checks. */
const PLAIN_SQL = { test: isPlainQuery };
/** Options of gh, but not those that name the file or the directory of a download. */
const GH_OPTION = /^-(?!O|D|-output|-dir)/;
const MYSQL: Table = {
  source: "mysql 8.0, mariadb 10.11: system, \\\\!, pager, tee and source are commands of the client",
  options:
    "ABbCfEHinNqrstvwX|hPuDS|p|e batch execute== host= port= user= database= raw table silent skip-column-names column-names vertical html xml compress force verbose wait auto-rehash no-auto-rehash safe-updates default-character-set= connect-timeout= protocol= ssl ssl-mode=",
  only: { "-e": PLAIN_SQL, "--execute": PLAIN_SQL },
};
/** Commands that only show the state of a program. */
const GDB_COMMAND =
  /^(?:bt|backtrace|where|info [\w ]+|thread apply all bt|thread \d+|frame \d+|list|quit|q|set pagination off|set confirm off)(?: full)?$/;

/** Command lines of services and other tools. */
export const TOOL_TABLES: Readonly<Record<string, Table>> = {
  ...VARIABLE_TABLES,
  bat: {
    source: "bat 0.24: --pager is a command, and `bat cache` builds what it reads later",
    options:
      "pnAdfuPShV|lHr plain number show-all diff force-colorization squeeze-blank unbuffered no-paging chop-long-lines list-languages list-themes no-config language= highlight-line= line-range= style= color= theme= paging= wrap= tabs= decorations= diff-context= file-name= terminal-width= italic-text= nonprintable-notation= map-syntax= ignored-suffix= strip-ansi=",
    notFirst: /^cache$/,
  },
  gh: {
    source: "gh 2.40: an alias with ! is a command of the shell; what follows -- goes to git",
    options: "-",
    words: GH_OPTION,
    // Missing are commands that change logins, keys and secrets.
    subcommands: {
      ...Object.fromEntries(
        "pr issue run release repo search label workflow status project cache ruleset org browse help completion version"
          .split(" ")
          .map((name) => [name, { options: "-", words: GH_OPTION }]),
      ),
      api: {
        options:
          "i|pqt||H|X|Ff paginate include silent verbose slurp jq= template= header= cache= preview= hostname= method=",
        only: { "-X": /^GET$/i, "--method": /^GET$/i },
      },
    },
    // Anywhere: an option before the subcommand may take the next word.
    never: /^(?:alias|ext|extensions?|config|codespaces?|cs)$/,
    rest: { repo: /^(?!)/ },
  },
  sqlite3: {
    source: "SQLite 3.40: dot-commands run programs and write files, as some functions do",
    oneDash: true,
    options:
      "- header noheader bail batch interactive line list column csv json table box markdown html quote ascii tabs echo stats readonly nofollow safe version separator= newline= nullvalue= cmd=",
    only: { "-cmd": SQLITE_DOT },
    isHarmless: (word, at) =>
      at === 0 ? !/^\s*\.(?![./])/.test(word) : SQLITE_DOT.test(word) || isPlainQuery(word),
  },
  psql: {
    source: "psql 16: backslash commands run programs and write files",
    options:
      "aAbeEHlnqtwWxXzsS1|dhpURFT||cPv|fLo|| echo-all no-align echo-errors echo-hidden html list quiet tuples-only no-password password expanded no-psqlrc field-separator= record-separator= dbname= host= port= username= command== csv single-transaction single-step",
    only: {
      "-c": PLAIN_SQL,
      "--command": PLAIN_SQL,
      "-P": /^[\w=|,. -]*$/,
      "-v": /^(?:ON_ERROR_STOP|ON_ERROR_ROLLBACK|VERBOSITY)=\w+$/,
    },
  },
  mysql: MYSQL,
  mariadb: MYSQL,
  gdb: {
    source: "GDB 13: a program or a core file is only read until a command runs it",
    oneDash: true,
    options:
      "- batch q quiet silent nx nh n version p= pid= c= core= s= symbols= e= ex= eval-command= directory= d= args",
    only: { "-ex": GDB_COMMAND, "-eval-command": GDB_COMMAND },
  },
  // A file or a text with ! runs a command of the shell.
  dc: {
    source: "GNU dc 1.4",
    options: "|||e|f expression==",
    only: { "-e": /^[^!]*$/s, "--expression": /^[^!]*$/s },
    others: /^(?!)/,
  },
  bc: { source: "GNU bc 1.07, bc 6 of BSD", options: "lqsiwhv mathlib quiet standard interactive warn" },
  ed: {
    source: "GNU ed 1.19: a name with ! is a command of the shell",
    options: "EGlrsv|p quiet silent",
    never: /^\s*!/,
  },
  tmux: {
    source: "tmux 3.5: #(…) in a format runs a command, ; begins another one",
    options: "-",
    runsCode: true,
    words: /^-(?!.*(?:#\(|;$))/s,
    never: /#\(|;$/,
  },
  yq: {
    source: "yq 4 of Go, yq 3 of Python: -i and -s write files",
    options:
      "PCMNrejncRhVS|opI prettyPrint colors no-colors no-doc unwrapScalar exit-status null-input tojson raw-output raw-input compact-output null sort-keys output-format= input-format= indent= header-preprocess[=] string-interpolation[=] version",
    never: /\b(?:load\w*|envsubst|input_filename|system)\b/,
  },
};
