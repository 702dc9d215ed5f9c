import { EXIT, TeamError } from "../errors.ts";
import { hasUtf8 } from "../os/env.ts";
import { outsideEndedTmux, teamOfPane } from "../runtime/callers-tmux.ts";
import { COMMON_OPTIONS, type OptionSpec } from "../terminal/call.ts";
import type { Io } from "../terminal/io.ts";
import { openOutput } from "../terminal/output.ts";
import { report } from "../terminal/report-error.ts";
import { longName } from "../text/terminal-text.ts";
import { bind, type Command, type ParsedLine, parseQuickly, type RawCall } from "./command.ts";
import { programVersion } from "./version.ts";

interface Entry {
  /** Its heading in `teams --help`. */
  readonly group: "Teams" | "Teammates" | "Messages" | "Tasks" | "Requests" | "This machine";
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Every command by its name; the file of a command is loaded when it is called. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  run: { group: "Teams", load: () => import("./commands/run.ts") },
  up: { group: "Teams", load: () => import("./commands/up.ts") },
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
  adopt: { group: "Teammates", load: () => import("./commands/adopt.ts") },
  join: { group: "Teammates", load: () => import("./commands/join.ts") },
  peek: { group: "Teammates", load: () => import("./commands/peek.ts") },
  replay: { group: "Teammates", load: () => import("./commands/replay.ts") },
  logs: { group: "Teammates", load: () => import("./commands/logs.ts") },
  diff: { group: "Teammates", load: () => import("./commands/diff.ts") },
  land: { group: "Teammates", load: () => import("./commands/land.ts") },
  hide: { group: "Teammates", load: () => import("./commands/hide.ts") },
  show: { group: "Teammates", load: () => import("./commands/show.ts") },
  mode: { group: "Teammates", load: () => import("./commands/mode.ts") },
  budget: { group: "Teammates", load: () => import("./commands/budget.ts") },
  interrupt: { group: "Teammates", load: () => import("./commands/interrupt.ts") },
  type: { group: "Teammates", load: () => import("./commands/type.ts") },
  keys: { group: "Teammates", load: () => import("./commands/keys.ts") },
  bg: { group: "Teammates", load: () => import("./commands/bg.ts") },
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
  approvals: { group: "Requests", load: () => import("./commands/approvals.ts") },
  approve: { group: "Requests", load: () => import("./commands/approve.ts") },
  reject: { group: "Requests", load: () => import("./commands/reject.ts") },
  settings: { group: "This machine", load: () => import("./commands/settings.ts") },
  trust: { group: "This machine", load: () => import("./commands/trust.ts") },
  completion: { group: "This machine", load: () => import("./commands/completion.ts") },
  skill: { group: "This machine", load: () => import("./commands/skill.ts") },
  doctor: { group: "This machine", load: () => import("./commands/doctor.ts") },
  "cli ls": { group: "This machine", load: () => import("./commands/cli-ls.ts") },
  mcp: { group: "This machine", load: () => import("./commands/mcp.ts") },
  acp: { group: "This machine", load: () => import("./commands/acp.ts") },
  agent: { group: "This machine", load: () => import("./commands/agent.ts") },
  hook: { group: "This machine", load: () => import("./commands/hook.ts") },
  "record-pane": { group: "This machine", load: () => import("./commands/record-pane.ts") },
  relay: { group: "This machine", load: () => import("./commands/relay.ts") },
};

/** First words that need a second word to be a command: `task`. */
export const FAMILIES: readonly string[] = [
  ...new Set(
    Object.keys(COMMANDS).flatMap((name) => (name.includes(" ") ? [name.slice(0, name.indexOf(" "))] : [])),
  ),
];

/**
 * Runs one command line. Reports errors on stderr and never throws.
 * @returns the exit status
 */
export async function runProgram(given: Io): Promise<number> {
  const json = hasFlag(given.argv, "--json");
  const isUnchanged = json || hasUtf8(given.env);
  const io = isUnchanged
    ? given
    : withParts(given, (await import("../terminal/ascii-io.ts")).asciiOutputs(given));
  try {
    return await dispatch(await outsideTmux(io));
  } catch (error) {
    return report(error, io, { json, verbose: hasFlag(io.argv, "--verbose") });
  }
}

async function dispatch(io: Io): Promise<number> {
  const words = withCommonOptionsLast(io.argv);
  const first = words[0];
  if (first === "--help" || first === "-h") return help(io, []);
  if (first === undefined) {
    const options = { json: hasFlag(io.argv, "--json"), quiet: hasFlag(io.argv, "--quiet") };
    return (await import("./help/next-steps.ts")).printNextSteps(io, options);
  }
  if (first === "help")
    return help(
      io,
      words.slice(1).filter((word) => !word.startsWith("-")),
    );
  if (first === "--version" || first === "-V") return printVersion(io);
  const name = commandName(words);
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || entry === undefined) return unknownCommand(io, words);
  // The scripts of the shells call it at each Tab; it is in no help.
  if (name === "completion" && /^(words|table)$/.test(words[1] ?? ""))
    return (await import("./completion/print-words.ts")).answerShell(io, words.slice(1), COMMANDS);
  const { command } = await entry.load();
  return runCommand(command, words.slice(name.split(" ").length), io);
}

/** Parses the words after a command's name, and runs the command. */
async function runCommand(command: Command, words: readonly string[], io: Io): Promise<number> {
  if (command.raw && !asksForHelp(words)) {
    const out = openOutput(io, { json: false, quiet: false, verbose: false });
    return (
      (await command.run({ args: {}, options: {}, io: withParts(io, { argv: words }), out, runProgram })) ??
      EXIT.done
    );
  }
  const parsed = parseQuickly(command, words) ?? (await parseSlowly(command, words));
  if ("help" in parsed) {
    io.out(`${parsed.help}\n`);
    return EXIT.done;
  }
  const { args, options } = bind(command, parsed);
  const out = openOutput(io, {
    json: options.json === true,
    quiet: options.quiet === true,
    verbose: options.verbose === true,
  });
  const marked = await markOfPane(command, options, io);
  const call = { args, options: { ...options, marked }, io, out, runProgram };
  try {
    return (await command.run(call)) ?? EXIT.done;
  } catch (error) {
    const team = await pickedTeam(error, call);
    if (team === undefined) throw error;
    return (await command.run({ ...call, options: { ...options, team } })) ?? EXIT.done;
  }
}

/** Returns the team of the caller's tmux pane, for a command that may need it: the command line may name another. */
async function markOfPane(
  command: Command,
  { team }: ReturnType<typeof bind>["options"],
  { env }: Io,
): Promise<string | undefined> {
  return team !== undefined || command.ignoresTeamOptions ? undefined : teamOfPane(env);
}

/** Lets a person at a terminal pick the team if the command could not decide between several. */
async function pickedTeam(
  error: unknown,
  { io, out }: Pick<RawCall, "io" | "out">,
): Promise<string | undefined> {
  const isUndecided = error instanceof TeamError && error.details?.teams !== undefined;
  if (!isUndecided || out.json || !io.terminal.stdin || !io.terminal.stderr) return undefined;
  return (await import("./picking/pick-team.ts")).pickTeam(error, io);
}

/** Returns `io` without a `$TMUX` whose server has ended. */
async function outsideTmux(io: Io): Promise<Io> {
  const outside = await outsideEndedTmux(io.env);
  return outside === undefined ? io : withParts(io, outside);
}

/** Copies `io` with other parts. Getters stay getters: reading the columns opens the terminal, which most commands never need. */
function withParts(io: Io, parts: Partial<Io>): Io {
  const own = Object.getOwnPropertyDescriptors(io);
  return Object.defineProperties({} as Io, { ...own, ...Object.getOwnPropertyDescriptors(parts) });
}

async function parseSlowly(
  command: Command,
  words: readonly string[],
): Promise<ParsedLine | { readonly help: string }> {
  const { parseWithCommander } = await import("./help/help.ts");
  return parseWithCommander(command, words);
}

/** A raw command reads all flags itself: only a lone `--help` is handled here. */
function asksForHelp(words: readonly string[]): boolean {
  return words.length === 1 && (words[0] === "--help" || words[0] === "-h");
}

/** Returns the command's name (`task add`, `send`); undefined if there is no such command. */
function commandName(words: readonly string[]): string | undefined {
  const [first, second] = words;
  if (first === undefined) return undefined;
  const two = `${first} ${second}`;
  return [two, first].find((name) => Object.hasOwn(COMMANDS, name));
}

/** Moves common options before the command to after it: `teams --json ls` becomes `teams ls --json`. */
function withCommonOptionsLast(argv: readonly string[]): readonly string[] {
  let at = 0;
  while (at < argv.length) {
    const spec = commonOption(argv[at] ?? "");
    if (spec === undefined) break;
    at += spec.value === undefined || (argv[at] ?? "").includes("=") ? 1 : 2;
  }
  const leading = argv.slice(0, at);
  const rest = argv.slice(at);
  if (leading.length === 0 || rest.length === 0) return rest;
  const length = commandName(rest)?.split(" ").length ?? 1;
  return [...rest.slice(0, length), ...leading, ...rest.slice(length)];
}

function commonOption(word: string): OptionSpec | undefined {
  return Object.entries(COMMON_OPTIONS as Readonly<Record<string, OptionSpec>>).find(
    ([key, spec]) =>
      word === `--${longName(key)}` ||
      (spec.value !== undefined && word.startsWith(`--${longName(key)}=`)) ||
      (spec.short !== undefined && word === `-${spec.short}`),
  )?.[1];
}

/** Whether the command line has this flag before `--`; works for a line that does not parse too. */
function hasFlag(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? argv.length : end).includes(flag);
}

async function unknownCommand(io: Io, words: readonly string[]): Promise<number> {
  const [first = "", second] = words;
  if (FAMILIES.includes(first) && (second === undefined || second === "--help" || second === "-h")) {
    return help(io, [first]);
  }
  const { unknownWord } = await import("./help/unknown-word.ts");
  throw unknownWord(words, Object.keys(COMMANDS), FAMILIES);
}

/** Prints the help of one command, of `teams task`, or of all commands. */
async function help(io: Io, words: readonly string[]): Promise<number> {
  const name = commandName(words);
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (entry !== undefined) return runCommand((await entry.load()).command, ["--help"], io);
  const family = words.find((word) => FAMILIES.includes(word));
  if (family === undefined && words.length > 0) return unknownCommand(io, words);
  const listed = Object.entries(COMMANDS).filter(
    ([key]) => family === undefined || key.startsWith(`${family} `),
  );
  const commands = await Promise.all(
    listed.map(async ([, { group, load }]) => ({ group, command: (await load()).command })),
  );
  const groups = [...new Set(commands.map(({ group }) => group))].map((heading) => ({
    heading,
    commands: commands.filter(({ group }) => group === heading).map(({ command }) => command),
  }));
  const { commandOverview } = await import("./help/help.ts");
  const title =
    family === undefined ? "Run teams of coding agents in tmux." : `Commands of \`teams ${family}\`.`;
  io.out(`${commandOverview(family === undefined ? "teams" : `teams ${family}`, title, groups)}\n`);
  return EXIT.done;
}

function printVersion(io: Io): number {
  io.out(`teams ${programVersion(io)}\n`);
  return EXIT.done;
}
