import { EXIT, TeamError } from "../errors.ts";
import { hasUtf8 } from "../os/env.ts";
import { outsideEndedTmux, teamOfPane } from "../runtime/tmux-environment.ts";
import { COMMON_OPTIONS, type OptionSpec } from "../terminal/call.ts";
import type { Io } from "../terminal/io.ts";
import { openOutput } from "../terminal/output.ts";
import { report } from "../terminal/report-error.ts";
import { longName } from "../text/terminal-text.ts";
import {
  bind,
  type Command,
  type CommandGroups,
  type LoadCommand,
  type ParsedLine,
  parseQuickly,
  type RawCall,
} from "./command.ts";
import { programVersion } from "./version.ts";

/** Every command below its heading of `teams --help`; the file of a command is loaded when it is called. */
const GROUPS: CommandGroups = {
  Teams: {
    run: () => import("./commands/run.ts"),
    up: () => import("./commands/up.ts"),
    create: () => import("./commands/create.ts"),
    down: () => import("./commands/down.ts"),
    resume: () => import("./commands/resume.ts"),
    delete: () => import("./commands/delete.ts"),
    export: () => import("./commands/export.ts"),
    import: () => import("./commands/import.ts"),
    ls: () => import("./commands/ls.ts"),
    status: () => import("./commands/status.ts"),
    wait: () => import("./commands/wait.ts"),
    events: () => import("./commands/events.ts"),
    layout: () => import("./commands/layout.ts"),
    sidebar: () => import("./commands/sidebar.ts"),
    attach: () => import("./commands/attach.ts"),
  },
  Teammates: {
    spawn: () => import("./commands/spawn.ts"),
    adopt: () => import("./commands/adopt.ts"),
    join: () => import("./commands/join.ts"),
    peek: () => import("./commands/peek.ts"),
    replay: () => import("./commands/replay.ts"),
    logs: () => import("./commands/logs.ts"),
    diff: () => import("./commands/diff.ts"),
    land: () => import("./commands/land.ts"),
    hide: () => import("./commands/hide.ts"),
    show: () => import("./commands/show.ts"),
    mode: () => import("./commands/mode.ts"),
    budget: () => import("./commands/budget.ts"),
    interrupt: () => import("./commands/interrupt.ts"),
    type: () => import("./commands/type.ts"),
    keys: () => import("./commands/keys.ts"),
    bg: () => import("./commands/bg.ts"),
    shutdown: () => import("./commands/shutdown.ts"),
    kill: () => import("./commands/kill.ts"),
  },
  Messages: {
    send: () => import("./commands/send.ts"),
    broadcast: () => import("./commands/broadcast.ts"),
    inbox: () => import("./commands/inbox.ts"),
  },
  Tasks: {
    "task add": () => import("./commands/task/add.ts"),
    "task list": () => import("./commands/task/list.ts"),
    "task show": () => import("./commands/task/show.ts"),
    "task update": () => import("./commands/task/update.ts"),
    "task claim": () => import("./commands/task/claim.ts"),
    "task done": () => import("./commands/task/done.ts"),
    "task rm": () => import("./commands/task/rm.ts"),
    "task dep": () => import("./commands/task/dep.ts"),
    "task graph": () => import("./commands/task/graph.ts"),
  },
  Requests: {
    approvals: () => import("./commands/approvals.ts"),
    approve: () => import("./commands/approve.ts"),
    reject: () => import("./commands/reject.ts"),
  },
  "This machine": {
    settings: () => import("./commands/settings.ts"),
    trust: () => import("./commands/trust.ts"),
    completion: () => import("./commands/completion.ts"),
    skill: () => import("./commands/skill.ts"),
    doctor: () => import("./commands/doctor.ts"),
    "cli ls": () => import("./commands/cli-ls.ts"),
    mcp: () => import("./commands/mcp.ts"),
    acp: () => import("./commands/acp.ts"),
    agent: () => import("./commands/agent.ts"),
    hook: () => import("./commands/hook.ts"),
    "record-pane": () => import("./commands/record-pane.ts"),
    relay: () => import("./commands/relay.ts"),
  },
};

/** Every command by its name. */
export const COMMANDS: Readonly<Record<string, LoadCommand>> = Object.fromEntries(
  Object.values(GROUPS).flatMap((group) => Object.entries(group)),
);

/** First words that need a second word to be a command: `task`. */
const FAMILIES: readonly string[] = [
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
    const { printNextSteps } = await import("./help/next-steps.ts");
    return printNextSteps(io, { json: hasFlag(io.argv, "--json") });
  }
  if (first === "help")
    return help(
      io,
      words.slice(1).filter((word) => !word.startsWith("-")),
    );
  if (first === "--version" || first === "-V") return printVersion(io);
  const name = commandName(words);
  const load = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || load === undefined) return unknownCommand(io, words);
  // Only the completion scripts call it, at each Tab: no help lists it.
  if (name === "completion" && /^(words|table)$/.test(words[1] ?? ""))
    return (await import("./completion/print-words.ts")).answerShell(io, words.slice(1), COMMANDS);
  const { command } = await load();
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

/** Whether the command line has this flag before `--`; also works for a line that does not parse. */
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
  const load = name === undefined ? undefined : COMMANDS[name];
  if (load !== undefined) return runCommand((await load()).command, ["--help"], io);
  const family = words.find((word) => FAMILIES.includes(word));
  if (family === undefined && words.length > 0) return unknownCommand(io, words);
  const { commandOverview } = await import("./help/help.ts");
  io.out(`${await commandOverview(GROUPS, family)}\n`);
  return EXIT.done;
}

function printVersion(io: Io): number {
  const out = openOutput(io, { json: hasFlag(io.argv, "--json"), quiet: false, verbose: false });
  const version = programVersion(io);
  out.answer({ version }, () => `teams ${version}`);
  return EXIT.done;
}
