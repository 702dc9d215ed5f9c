/** The layers of docs/architecture.md, lowest first. Folders in one layer do not import each other. */
export const LAYERS = [
  ["text", "schema", "errors.ts"],
  ["protocol", "os"],
  ["store", "wakeup", "tmux", "git", "telemetry"],
  ["team", "launch", "agent"],
  ["backend"],
  ["adapter"],
  ["worker"],
  ["operations"],
  ["team-tools", "settings"],
  ["terminal", "sidebar", "doctor", "casts"],
  ["runtime"],
  ["cli", "library"],
  ["main.ts", "main-agent.ts", "index.ts"],
];

/** Imports that the layers would allow and the architecture forbids. */
export const FORBIDDEN = [
  {
    from: "tmux",
    to: ["protocol", "schema"],
    why: "the tmux driver does not know teams and could be published alone",
  },
  {
    from: "agent",
    to: ["tmux"],
    why: "the agent does not know teams or tmux; it receives tools and a model",
  },
  { from: "backend", to: ["agent"], why: "a backend receives the function that runs a worker" },
];

/** Imports allowed between two places in one layer. */
export const ALLOWED_SIBLINGS = [
  { from: "schema", to: "errors.ts" },
  { from: "main-agent.ts", to: "main.ts" },
];

/** Packages and built-in modules that only the named places may import. Every other package is free. */
export const PACKAGE_HOMES = [
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
  { names: ["execa"], homes: ["os/process/"], instead: "call run of os/process/run.ts" },
  { names: ["proper-lockfile"], homes: ["os/files/", "store/"], instead: "call withLock of store/lock.ts" },
  { names: ["blessed"], homes: ["sidebar/screen.ts"], instead: "draw through sidebar/screen.ts" },
  {
    names: ["@anthropic-ai/sdk"],
    homes: ["agent/model/"],
    instead: "use the model port, agent/model/model.ts",
  },
  {
    names: ["@modelcontextprotocol/server"],
    homes: ["runtime/mcp/", "agent/mcp/"],
    instead: "serve tools with runtime/mcp/server.ts, or a worker's with agent/mcp/serve-tools.ts",
  },
  {
    names: ["@agentclientprotocol/sdk"],
    homes: ["runtime/acp/", "adapter/acp/"],
    instead: "implement an agent with runtime/acp/serve.ts, or a client with adapter/acp/acp-channel.ts",
  },
  { names: ["tar-stream"], homes: ["os/files/"], instead: "write and read archives through os/files/tar.ts" },
  {
    names: ["diff"],
    homes: ["text/diff/"],
    instead: "call changeLines of text/diff/change-lines.ts, with shortestChange",
  },
  { names: ["commander"], homes: ["cli/"], instead: "declare the command in cli/" },
  {
    names: ["markdown-it", "highlight.js"],
    homes: ["text/markdown/"],
    instead: "render Markdown with markdownRows of text/markdown/rows.ts",
  },
  {
    names: ["unbash"],
    homes: [
      "agent/permissions/shell-line.ts",
      "agent/permissions/line-parts.ts",
      "agent/permissions/syntax/evaluated-texts.ts",
      "agent/permissions/syntax/line-depths.ts",
      "agent/permissions/syntax/line-flows.ts",
      "agent/permissions/syntax/line-words.ts",
      "agent/permissions/syntax/parts-collector.ts",
      "agent/permissions/syntax/word-values.ts",
      "agent/playbook/quoted-values.ts",
      "agent/hooks/assignments.ts",
    ],
    instead: "parse a command line with readShellLine of agent/permissions/shell-line.ts",
  },
];

/** Globals that are effects, and the places that may use them. `of` is the object; a global function has none. */
export const EFFECTS = [
  {
    of: "process",
    names: ["env"],
    homes: ["os/"],
    instead: "take the environment as an argument; terminal/ reads it with processEnv of os/env.ts",
  },
  {
    of: "process",
    names: ["kill"],
    homes: ["os/"],
    instead: "end processes through os/process/ with their identity",
  },
  { of: "process", names: ["hrtime", "uptime"], homes: ["os/"], instead: "take a Clock as an argument" },
  {
    of: "process",
    names: ["exit", "reallyExit", "abort"],
    homes: ["main.ts"],
    instead: "throw a TeamError, or set process.exitCode in terminal/; only main.ts ends the process",
  },
  {
    of: "process",
    names: ["stdin", "stdout", "stderr", "exitCode", "argv"],
    homes: ["terminal/", "runtime/", "cli/", "sidebar/", "main.ts", "main-agent.ts"],
    instead: "take the stream or the value as an argument; terminal/ passes it in",
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

/** Packages that a cold command must not load at its start: every import on the way to them is an `import()`. */
export const LAZY = {
  entries: ["main.ts", "main-agent.ts"],
  packages: [
    "execa",
    "commander",
    "blessed",
    "@anthropic-ai/sdk",
    "tar-stream",
    "unbash",
    "@modelcontextprotocol/server",
    "@agentclientprotocol/sdk",
  ],
};

/** Maximum files in one folder, and lines in one file. */
export const LIMITS = { files: 22, lines: 300, exceptFolders: ["cli/commands", "playbooks"] };
