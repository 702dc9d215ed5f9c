import type { Command } from "./define-command.ts";

interface Entry {
  /** The heading it stands under in `teams --help`. */
  readonly group: "Teams" | "Teammates" | "Messages" | "Tasks" | "What waits for you" | "This machine";
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Every command by the words that call it; each file is loaded when it is called. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  run: { group: "Teams", load: () => import("./commands/run.ts") },
  create: { group: "Teams", load: () => import("./commands/create.ts") },
  down: { group: "Teams", load: () => import("./commands/down.ts") },
  resume: { group: "Teams", load: () => import("./commands/resume.ts") },
  delete: { group: "Teams", load: () => import("./commands/delete.ts") },
  export: { group: "Teams", load: () => import("./commands/export.ts") },
  import: { group: "Teams", load: () => import("./commands/import.ts") },
  ls: { group: "Teams", load: () => import("./commands/ls.ts") },
  status: { group: "Teams", load: () => import("./commands/status.ts") },
  wait: { group: "Teams", load: () => import("./commands/wait.ts") },
  events: { group: "Teams", load: () => import("./commands/events.ts") },
  layout: { group: "Teams", load: () => import("./commands/layout.ts") },
  sidebar: { group: "Teams", load: () => import("./commands/sidebar.ts") },
  attach: { group: "Teams", load: () => import("./commands/attach.ts") },
  spawn: { group: "Teammates", load: () => import("./commands/spawn.ts") },
  peek: { group: "Teammates", load: () => import("./commands/peek.ts") },
  logs: { group: "Teammates", load: () => import("./commands/logs.ts") },
  hide: { group: "Teammates", load: () => import("./commands/hide.ts") },
  show: { group: "Teammates", load: () => import("./commands/show.ts") },
  mode: { group: "Teammates", load: () => import("./commands/mode.ts") },
  budget: { group: "Teammates", load: () => import("./commands/budget.ts") },
  interrupt: { group: "Teammates", load: () => import("./commands/interrupt.ts") },
  shutdown: { group: "Teammates", load: () => import("./commands/shutdown.ts") },
  kill: { group: "Teammates", load: () => import("./commands/kill.ts") },
  send: { group: "Messages", load: () => import("./commands/send.ts") },
  broadcast: { group: "Messages", load: () => import("./commands/broadcast.ts") },
  inbox: { group: "Messages", load: () => import("./commands/inbox.ts") },
  "task add": { group: "Tasks", load: () => import("./commands/task/add.ts") },
  "task list": { group: "Tasks", load: () => import("./commands/task/list.ts") },
  "task show": { group: "Tasks", load: () => import("./commands/task/show.ts") },
  "task update": { group: "Tasks", load: () => import("./commands/task/update.ts") },
  "task claim": { group: "Tasks", load: () => import("./commands/task/claim.ts") },
  "task done": { group: "Tasks", load: () => import("./commands/task/done.ts") },
  "task rm": { group: "Tasks", load: () => import("./commands/task/rm.ts") },
  "task dep": { group: "Tasks", load: () => import("./commands/task/dep.ts") },
  "task graph": { group: "Tasks", load: () => import("./commands/task/graph.ts") },
  approvals: { group: "What waits for you", load: () => import("./commands/approvals.ts") },
  approve: { group: "What waits for you", load: () => import("./commands/approve.ts") },
  reject: { group: "What waits for you", load: () => import("./commands/reject.ts") },
  settings: { group: "This machine", load: () => import("./commands/settings.ts") },
  trust: { group: "This machine", load: () => import("./commands/trust.ts") },
  doctor: { group: "This machine", load: () => import("./commands/doctor.ts") },
  agent: { group: "This machine", load: () => import("./commands/agent.ts") },
};

/** First words that are no command of their own: `task`. */
export const FAMILIES: readonly string[] = [
  ...new Set(
    Object.keys(COMMANDS).flatMap((name) => (name.includes(" ") ? [name.slice(0, name.indexOf(" "))] : [])),
  ),
];
