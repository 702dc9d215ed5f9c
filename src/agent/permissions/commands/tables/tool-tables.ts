import type { Table } from "./table.ts";

/** A variable that programs obey, so that its value may name a program, a library, a file or options. */
const OBEYED =
  /^(?:PATH|CDPATH|IFS|ENV|HOME|SHELL|ZDOTDIR|TERMCAP|TERMINFO|EDITOR|VISUAL|MAKEFLAGS|CLASSPATH|FPATH|\w*(?:PATH|PAGER|EDITOR|BROWSER|ASKPASS|COMMAND|CMD|SHELL|OPTS|OPTIONS|FLAGS|HOOK|WRAPPER|PRELOAD|STARTUP|RSH|SSH)|(?:BASH|LD|DYLD|GIT|SSH|LESS|PYTHON|PERL5?|RUBY|NODE_(?!ENV\b)|NPM|npm|JAVA|JDK|MAVEN|GRADLE|RUSTC?|CARGO|GO|DOCKER|PS|MAN|XDG|GCONV|GLIBC|MALLOC|PROMPT|TEAMS|CLAUDE|PIP|UV|DENO|BUN|YARN|COREPACK)_?\w*|_JAVA\w*)(?:\+?=|$)/;

const EXPORT: Table = {
  source: "bash 5.2, zsh 5.9, dash 0.5",
  options: "np",
  others: /^[A-Za-z_]\w*(?:\+?=[^/~]*|=(?:https?|postgres|postgresql|mysql|redis|amqp|mongodb):\/\/\S*)?$/s,
  never: OBEYED,
};

/** Command lines of services and other tools. */
export const TOOL_TABLES: Readonly<Record<string, Table>> = {
  export: EXPORT,
  bat: {
    source: "bat 0.24: --pager is a command, and `bat cache` builds what it reads later",
    options:
      "pnAdfuPShV|lHr plain number show-all diff force-colorization squeeze-blank unbuffered no-paging chop-long-lines list-languages list-themes no-config language= highlight-line= line-range= style= color= theme= paging= wrap= tabs= decorations= diff-context= file-name= terminal-width= italic-text= nonprintable-notation= map-syntax= ignored-suffix= strip-ansi=",
    notFirst: /^cache$/,
  },
  gh: {
    source: "gh 2.40: an alias with ! is a command of the shell; what follows -- goes to git",
    options: "-",
    words: /^-/,
    // Anywhere: an option before the subcommand may take the next word.
    never: /^(?:alias|ext|extensions?|config|codespaces?|cs)$/,
    rest: { repo: /^(?!)/ },
  },
  sqlite3: {
    source: "sqlite3 3.40: dot-commands run programs and write files, as some functions do",
    oneDash: true,
    options:
      "- header noheader bail batch interactive line list column csv json table box markdown html quote ascii tabs echo stats readonly nofollow safe version separator= newline= nullvalue=",
    never:
      /^\s*\.(?![./])|\b(?:load_extension|writefile|readfile|edit|fts3_tokenizer)\b|\battach\b|\binto\s+['"]/i,
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
