import type { Table } from "./table.ts";

const OWN_WORKSPACE = /^(?!\/|.*\.\.)[\w@./-]+$/;

const names = (text: string): string => text.trim().replace(/\s+/g, "|");
/** Commands of package managers that install what the project lists, show it, or run its scripts. */
const COMMON = names(`
  run run-script test t tst start stop restart install i ci add remove rm uninstall un r unlink update up upgrade list ls ll la
  outdated audit why prune dedupe rebuild rb root bin pack licenses help view info show search fund ping version versions`);
/** Names of scripts; no system has programs of these names. */
const SCRIPTS =
  "(?:build|dev|lint|format|typecheck|type-check|types|coverage|e2e|storybook|preview|serve|codegen|release|docs|prettier|eslint|vitest|jest|tsc)(?:[:-][\\w:-]+)?|[\\w-]+:[\\w:-]+";

/** pnpm and older versions of npm put the words for a script into a line of a shell, in double quotes. */
const CODE = /\$\(|`/;

/** npm and pnpm accept abbreviations, and long options with one dash: several letters after a dash are one option. */
const NPM: Table = {
  source: "npm 11: npm help config",
  negates: true,
  options: `sdqDSOEBPylafn|w|||Cc silent loglevel= verbose quiet if-present workspaces workspace= include-workspace-root save save-dev
    save-prod save-optional save-peer save-exact save-bundle audit fund optional package-lock progress color legacy-peer-deps
    strict-peer-deps force dry-run ignore-scripts production omit= include= prefer-offline prefer-online offline bin-links
    package-lock-only install-links long parseable json all depth= yes foreground-scripts audit-level= engine-strict access= tag=
    otp= message= git-tag-version commit-hooks preid= allow-same-version script-shell=! node-options=! prefix=! userconfig=!
    globalconfig=! shell=! call=! editor=! cache=!`,
  only: { "-w": OWN_WORKSPACE, "--workspace": OWN_WORKSPACE },
  // npm reads any start of a name as the command: `npm exe x`. `npm init x` runs the package create-x.
  first: new RegExp(
    `^(?:${COMMON}|${names("rum urn in ins inst insta instal isnt isnta isntal isntall clean-install ic install-clean install-test it cit udpate ddp find-dupes explain query sbom doctor prefix whoami completion shrinkwrap se s find v")})$`,
  ),
  never: CODE,
};

const PNPM: Table = {
  source: "pnpm 9",
  negates: true,
  options: `srwPDOE|F|||C silent recursive filter= workspace-root frozen-lockfile prod dev offline prefer-offline if-present parallel
    stream aggregate-output ignore-scripts reporter= lockfile-only save-dev save-prod save-exact save-optional bail sort latest
    workspace-concurrency= fix-lockfile depth= json long color dir=! script-shell=!`,
  // For a word that is neither a command of pnpm nor a script, it runs the program of that name.
  first: new RegExp(`^(?:${COMMON}|fetch|import|${SCRIPTS})$`),
  never: CODE,
};

const YARN: Table = {
  source: "Yarn 1.22 and 4",
  options: `sDE silent frozen-lockfile immutable production non-interactive ignore-scripts offline prefer-offline network-timeout= dev
    exact optional peer verbose json check-files ignore-engines ignore-optional pure-lockfile force no-lockfile no-progress
    inline-builds`,
  first: new RegExp(`^(?:${COMMON}|check|autoclean|workspaces?|constraints|${SCRIPTS})$`),
  // Anywhere: `yarn workspace a exec x`, `yarn workspaces foreach exec x`, `yarn cache dir`.
  never: /^(?:exec|dlx|node|create|config|plugin|set|global|link|policies|\.{0,2}\/.*)$|\$\(|`/,
};

const COMPOSE: Table = {
  source: "Compose 2.29",
  options: "||||fp ansi= progress= profile= project-name= parallel= file=! env-file=! project-directory=!",
  operands: 1,
  subcommands: {
    build: "q build-arg= no-cache pull quiet progress= with-dependencies",
    config: "q quiet services volumes images profiles format= no-interpolate",
    create: "- build force-recreate no-recreate no-build pull= remove-orphans",
    down: "v|t remove-orphans volumes rmi= timeout=",
    events: "- json",
    exec: { options: "dTitw|euw detach env= index= no-TTY user= workdir= interactive tty", operands: 1 },
    images: "q quiet format=",
    kill: "s signal= remove-orphans",
    logs: "ft|n follow tail= since= until= timestamps no-color no-log-prefix index=",
    ls: "aq all quiet format= filter=",
    pause: "-",
    port: "- index= protocol=",
    ps: "aq all quiet services status= format= filter= no-trunc orphans",
    pull: "q quiet ignore-pull-failures include-deps policy= ignore-buildable",
    push: "q quiet ignore-push-failures include-deps",
    restart: "|t no-deps timeout=",
    rm: "fsv force stop volumes",
    run: {
      options:
        "dTitP|epuw|||v detach rm no-deps env= name= publish= service-ports build quiet-pull remove-orphans no-TTY user= workdir= interactive use-aliases label=",
      operands: 1,
    },
    start: "-",
    stop: "|t timeout=",
    top: "-",
    unpause: "-",
    up: "dVy|t detach build force-recreate no-recreate no-build no-deps no-start pull= quiet-pull remove-orphans scale= timeout= wait wait-timeout= abort-on-container-exit exit-code-from= attach= no-attach= no-color no-log-prefix timestamps renew-anon-volumes always-recreate-deps watch",
    version: "f short format=",
    watch: "- no-up prune quiet",
  },
};

const LIST = "aq|fn all quiet filter= format= no-trunc last= latest size digests";

/** Docker's common commands. No option that gives a container a part of this machine. */
const DOCKER: Table = {
  source: "Docker 27",
  options: "D||||Hcl debug log-level= host=! context=! config=!",
  operands: 1,
  subcommands: {
    build:
      "q|tf file= tag= build-arg= target= no-cache pull platform= progress= quiet rm force-rm label= load cache-from=",
    compose: COMPOSE,
    exec: { options: "dit|euw detach interactive tty env= user= workdir=", operands: 1 },
    history: "qH quiet no-trunc format= human",
    images: LIST,
    info: "|f format=",
    inspect: "s|f format= size type=",
    kill: "|s signal=",
    logs: "ft|n follow tail= since= until= timestamps details",
    ps: LIST,
    pull: "aq all-tags quiet platform=",
    push: "aq all-tags quiet",
    restart: "|ts time= signal=",
    rm: "flv force link volumes",
    rmi: "f force no-prune",
    run: {
      options:
        "ditP|peuwhlm|||v detach interactive tty rm name= publish= publish-all env= user= workdir= hostname= label= memory= cpus= platform= pull= init restart= stop-timeout= quiet entrypoint= read-only",
      operands: 1,
    },
    start: "ai attach interactive",
    stats: "a all format= no-stream no-trunc",
    stop: "|ts time= signal=",
    tag: "-",
    top: "-",
    version: "|f format=",
    wait: "-",
  },
};

/** Programs that install packages, run their scripts, and run containers. */
export const PACKAGE_TABLES: Readonly<Record<string, Table>> = {
  npm: NPM,
  npx: { source: "npm 11: npm help npx", options: "yq||||pc yes no no-install quiet silent", operands: 1 },
  pnpm: PNPM,
  yarn: YARN,
  // Bun runs code itself, so that a rule for it with any words allows all code.
  bun: {
    source: "Bun 1.1",
    runsCode: true,
    options:
      "|||dDEpg dev optional exact production frozen-lockfile no-save silent watch hot bail[=] coverage timeout= test-name-pattern= todo only rerun-each= filter= if-present smol verbose no-cache dry-run",
    operandsOf: { run: 2 },
    first: new RegExp(`^(?:${COMMON}|${SCRIPTS})$`),
  },
  docker: DOCKER,
  "docker-compose": COMPOSE,
};
