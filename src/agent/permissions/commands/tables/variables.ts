/** Variables that no common program reads as a program, a file, a place or options. Every other variable asks. */
const HARMLESS = [
  "CI DEBUG VERBOSE QUIET LOG_LEVEL NODE_ENV BABEL_ENV RAILS_ENV RACK_ENV APP_ENV FLASK_ENV FLASK_DEBUG MIX_ENV GO_ENV",
  "PORT TZ LANG LANGUAGE LC_[A-Z]+ COLUMNS LINES FORCE_COLOR NO_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM",
  "RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8",
  "GOOS GOARCH GOMAXPROCS CGO_ENABLED OMP_NUM_THREADS SOURCE_DATE_EPOCH DEBIAN_FRONTEND DOCKER_BUILDKIT HUSKY",
  "COMPOSE_PROJECT_NAME AWS_REGION AWS_DEFAULT_REGION TF_LOG TF_IN_AUTOMATION NEXT_TELEMETRY_DISABLED DO_NOT_TRACK",
  "GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE) GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_MERGE_AUTOEDIT",
  "(?:DATABASE|DB|REDIS|API|APP|BASE|SERVER|TEST)_(?:URL|HOST|PORT|USER|NAME|PASSWORD|KEY|TOKEN)",
  "(?:GITHUB|GH|NPM|GITLAB|API|ACCESS|AUTH)_TOKEN (?:AWS|OPENAI|ANTHROPIC|API|APP|SECRET)_(?:ACCESS_)?KEY(?:_ID)?",
  "(?:VITE|NEXT_PUBLIC|REACT_APP|NUXT_PUBLIC|EXPO_PUBLIC|FEATURE|E2E|MY)_[A-Z\\d_]+",
  "FOO BAR BAZ [A-Z] VERSION RELEASE BRANCH COMMIT ENVIRONMENT STAGE REGION ARCH PLATFORM SEED COUNT LIMIT THREADS WORKERS JOBS",
  "RETRIES TIMEOUT HEADLESS SHARD COVERAGE PROFILE BUILD_NUMBER BUILD_ID UPDATE_SNAPSHOTS",
]
  .join("|")
  .replaceAll(" ", "|");

/** Endings of names of variables that name programs, files or options. */
const OBEYED =
  "(?!\\w*(?:PATH|PAGER|EDITOR|BROWSER|ASKPASS|COMMAND|CMD|SHELL|OPTS|OPTIONS|ARGS|FLAGS|HOOK|WRAPPER|PRELOAD|BIN|FILE|DIR|HOME|CONFIG|PLUGINS?|MODULES?|PROXY|PROG)(?:\\+?=|$))";

/** A text without a path, an option, an expansion or code; or the URL of a service. A script may pass it to a program as options. */
const VALUE =
  "(?!-[^\\d ]|.* -[^\\d ])(?:[\\w.,:+@%=!#*? -]*|(?:https?|postgres|postgresql|mysql|redis|amqp|mongodb):\\/\\/[^\\s;&|<>()`$'\"\\\\{}]*)";

/** A time zone, not a file of one: `America/Argentina/Buenos_Aires`. */
const ZONE = "[A-Z][A-Za-z]+(?:\\/[A-Z][\\w+-]*)+";

const KNOWN = new RegExp(
  `^(?:${OBEYED}(?:${HARMLESS})(?:\\+?=${VALUE})?|(?:GIT_|MAN)?PAGER=(?:cat)?|(?:GIT_)?EDITOR=(?:true|:|cat)|TZ=${ZONE})$`,
);

/** A harmless variable, alone or with a harmless value. */
export const HARMLESS_VARIABLE = { test: (text: string) => KNOWN.test(text) && !mayAssign(text) };

/** Lower-case names that shells, mostly zsh and fish, or programs obey. */
const OBEYED_LOWER =
  "(?!(?:\\w*path|prompt\\d?|ps\\d|\\w*_proxy|npm_\\w+|[gs]?aliases|functions\\w*|commands|options|parameters|dirstack|fish_\\w+|precmd\\w*|preexec\\w*|chpwd\\w*|periodic\\w*|zshexit\\w*|histchars|argv|mapfile|nameddirs|userdirs|dis_\\w+|modules|widgets|fignore)(?:\\+?=|$))";

const LOCAL = new RegExp(`${KNOWN.source}|^${OBEYED_LOWER}[a-z][a-z\\d_]*(?:\\[\\d*\\])?(?:\\+?=${VALUE})?$`);

/** A harmless variable, or a variable of a script: `read line`. */
export const HARMLESS_LOCAL = { test: (text: string) => LOCAL.test(text) && !mayAssign(text) };

/**
 * Returns whether a variable's value assigns another variable when a shell evaluates it as arithmetic: after `A=PATH=5`,
 * `printf %d A` sets PATH in zsh. A URL is not a number, and no program obeys a lower-case name such as `crate=debug`.
 */
function mayAssign(text: string): boolean {
  const value = text.replace(/^[^=]*=/, "");
  // zsh evaluates the values of these variables as arithmetic, because they are integers.
  if (/^(?:COLUMNS|LINES)(?:$|\+?=(?!\d*$))/.test(text)) return true;
  if (/^[a-z]+:\/\//.test(value)) return false;
  const assigned = [...value.matchAll(/(?<!\w)(\w+)\s*[-+*%]*=/g)].map(([, name = ""]) => name);
  return /\+\+|--/.test(value) || assigned.some((name) => /[A-Z]|path$|^(?:prompt|argv|status)$/.test(name));
}

/** A conversion of printf that sets a variable to the number of characters so far: bash and zsh have it. */
export const ASSIGNS = /%[-+ #0'\d.*$hlLqjzt]*n/;

/** A conversion of printf, with its width, its precision and its kind. */
const CONVERSION = /%[-+ #0']*(\*|\d*)(?:\.(\*|-?\d*))?[hlLqjzt]*([A-Za-z%])/g;
/** A conversion with a number. */
const NUMERIC = /[diouxXeEfFgGaA]/;
/** A number, the code of a character (`'a`), or a value that only the shell knows, with which a line asks anyway. */
const NUMBER = /^(?:[-+]?(?:\d[\d.]*(?:[eE][-+]?\d+)?|\.\d+|0[xX][\da-fA-F]+|['"].)?|\ufffc)$/s;

/**
 * Returns the words of printf that may set a variable in zsh, which evaluates its numbers as arithmetic: `printf %d PATH=5`.
 * @param args the format and the words after it, or options before it
 */
export function assigningWords(args: readonly string[]): readonly string[] {
  const option = args[0] === "-v" ? 2 : 0;
  const at = args[option] === "--" ? option + 1 : option;
  const format = args[at] ?? "";
  const kinds = [...format.matchAll(CONVERSION)].flatMap(([, width, precision, kind = ""]) => [
    ...[width, precision].filter((part) => part === "*").map(() => true),
    ...(kind === "%" ? [] : [NUMERIC.test(kind)]),
  ]);
  const isAny = /%\d+\$/.test(format);
  const values = args.slice(at + 1);
  return values.filter((word, i) => (isAny || kinds[i % kinds.length] === true) && !NUMBER.test(word));
}
