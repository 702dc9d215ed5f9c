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

/** A text without a path, an option, an expansion or code; or the URL of a service. A script may hand it to a program as options. */
const VALUE =
  "(?!-[^\\d ]|.* -[^\\d ])(?:[\\w.,:+@%=!#*? -]*|(?:https?|postgres|postgresql|mysql|redis|amqp|mongodb):\\/\\/\\S*)";

/** A harmless variable, alone or with a harmless value. */
export const HARMLESS_VARIABLE = new RegExp(
  `^(?:${OBEYED}(?:${HARMLESS})(?:\\+?=${VALUE})?|(?:GIT_|MAN)?PAGER=(?:cat)?|(?:GIT_)?EDITOR=(?:true|:|cat))$`,
);

/** Lower-case names that shells, mostly zsh and fish, or programs obey. */
const OBEYED_LOWER =
  "(?!(?:\\w*path|prompt\\d?|ps\\d|\\w*_proxy|npm_\\w+|[gs]?aliases|functions\\w*|commands|options|parameters|dirstack|fish_\\w+|precmd\\w*|preexec\\w*|chpwd\\w*|periodic\\w*|zshexit\\w*|histchars|argv|mapfile|nameddirs|userdirs|dis_\\w+|modules|widgets|fignore)(?:\\+?=|$))";

/** A harmless variable, or a variable of a script: `read line`. */
export const HARMLESS_LOCAL = new RegExp(
  `${HARMLESS_VARIABLE.source}|^${OBEYED_LOWER}[a-z][a-z\\d_]*(?:\\[\\w*\\])?(?:\\+?=${VALUE})?$`,
);

/** A conversion of printf that sets a variable to the number of characters so far: bash and zsh have it. */
export const ASSIGNS = /%[-+ #0'\d.*$hlLqjzt]*n/;

/** A conversion of printf with a number, which zsh calculates: `printf %d PATH=5` sets PATH. */
const NUMERIC = /%[-+ #0'\d.*$hlLqjzt]*[diouxXeEfFgGaA]|%[-+ #0'\d.$]*\*/;

/** Returns the words of printf that set a variable in zsh. @param args the format and the words after it, or options before it */
export function assigningWords(args: readonly string[]): readonly string[] {
  const at = args[0] === "-v" ? 2 : args.findIndex((word) => word !== "--");
  return NUMERIC.test(args[at] ?? "") ? args.slice(at + 1).filter((word) => /=|\+\+|--/.test(word)) : [];
}
