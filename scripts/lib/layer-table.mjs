/** The house as architecture.md draws it, from the bottom up; folders on one line do not import each other. */
export const LEVELS = [
  ["errors.ts", "schema"],
  ["protocol", "os"],
  ["store", "wakeup", "tmux", "git", "telemetry"],
  ["team", "launch", "agent"],
  ["backend", "adapter"],
  ["worker"],
  ["lead"],
  ["team-tools"],
  ["mcp", "sidebar", "doctor"],
  ["cli"],
  ["main.ts", "main-agent.ts", "index.ts"],
];

/** Pairs that the levels would allow and the architecture does not. `errors.ts` stands below everything. */
export const APART = [
  {
    from: "tmux",
    to: ["protocol", "schema"],
    why: "the tmux driver knows no teams and could be published alone",
  },
  { from: "agent", to: ["tmux"], why: "the agent knows no teams and no tmux; it is given tools and a model" },
  { from: "backend", to: ["agent"], why: "a backend is handed the function that runs a worker" },
];

/** Files that may import each other although they stand on one level. */
export const SIBLINGS = [
  { from: "schema", to: "errors.ts" },
  { from: "main-agent.ts", to: "main.ts" },
];

/** Packages and built-in modules with one home; everything else may be imported anywhere. */
export const HOMES = [
  {
    names: ["node:fs", "node:fs/promises", "node:child_process", "node:worker_threads", "node:cluster"],
    homes: ["os/"],
    instead: "add a small, well-named function to os/ and call that",
  },
  {
    names: ["node:timers", "node:timers/promises", "node:perf_hooks"],
    homes: ["os/"],
    instead: "take a Clock as an argument, or call pause of os/clock.ts",
  },
  { names: ["execa"], homes: ["os/"], instead: "call run of os/run.ts" },
  { names: ["proper-lockfile"], homes: ["os/", "store/"], instead: "call withLock of store/lock.ts" },
  { names: ["blessed"], homes: ["sidebar/screen.ts"], instead: "draw through sidebar/screen.ts" },
  {
    names: ["@anthropic-ai/sdk"],
    homes: ["agent/model/"],
    instead: "use the model port, agent/model/model.ts",
  },
  { names: ["tar-stream"], homes: ["os/"], instead: "pack and read archives through os/archive.ts" },
  { names: ["commander"], homes: ["cli/"], instead: "declare the command in cli/" },
  {
    names: ["unbash"],
    homes: ["agent/shell-line.ts"],
    instead: "read a command line with readShellLine of agent/shell-line.ts",
  },
];

/** Globals that are effects, and where they may be used. `of` is the object, none for a global function. */
export const EFFECTS = [
  {
    of: "process",
    names: ["env"],
    homes: ["os/"],
    instead: "take the environment as an argument; cli/ reads it with processEnv of os/env.ts",
  },
  {
    of: "process",
    names: ["kill"],
    homes: ["os/"],
    instead: "end processes through os/ with their identity",
  },
  { of: "process", names: ["hrtime", "uptime"], homes: ["os/"], instead: "take a Clock as an argument" },
  {
    of: "process",
    names: ["exit", "reallyExit", "abort"],
    homes: ["main.ts"],
    instead: "throw a TeamError, or set process.exitCode in cli/; main.ts alone ends the process",
  },
  {
    of: "process",
    names: ["stdin", "stdout", "stderr", "exitCode", "argv"],
    homes: ["cli/", "sidebar/", "main.ts", "main-agent.ts"],
    instead: "take the stream or the value as an argument; cli/ hands it in",
  },
  { of: "Date", names: ["now"], homes: ["os/"], instead: "take a Clock as an argument" },
  {
    of: "performance",
    names: ["now", "mark", "measure", "timeOrigin"],
    homes: ["os/"],
    instead: "take a Clock as an argument",
  },
  {
    of: "AbortSignal",
    names: ["timeout"],
    homes: ["os/"],
    instead: "take the signal as an argument, or call pause of os/clock.ts",
  },
  {
    names: ["setTimeout", "setInterval"],
    homes: ["os/"],
    instead: "call pause of os/clock.ts, or add the timer to os/",
  },
];

/** Packages that a cold command must not load before it uses them: never reached from an entry without an `import()`. */
export const LAZY = {
  entries: ["main.ts", "main-agent.ts"],
  packages: ["execa", "commander", "blessed", "@anthropic-ai/sdk", "tar-stream", "unbash"],
};
