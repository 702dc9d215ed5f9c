import { resolve } from "node:path";
import { EXIT, messageOf, systemCode, TeamError } from "../../errors.ts";
import type { MemberStatus } from "../../operations/status.ts";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { entryOf, writeNew } from "../../os/files/fs.ts";
import { type CommandEnd, runCommandGroup } from "../../os/process/command-group.ts";
import { OutputTail } from "../../os/process/output-tail.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { sumOf } from "../../schema/tokens.ts";
import { readTeam } from "../../team/config/config.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { capturedIo } from "../../terminal/captured-io.ts";
import { OWN_COMMAND } from "../../terminal/pane/running-rows.ts";
import { compact } from "../../text/compact-number.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { type AgentCommandsOptions, agentCommands, messageWithHint } from "./agent-commands.ts";
import { parsePaneLine, type SlashName, slashCommand, slashHelp, teamsCommand } from "./slash-commands.ts";

/** Handles the lines that a person types in a pane. */
export interface PaneLines {
  /** Runs a typed line as a command, or passes it to the agent. @param begun when its first character was typed */
  handle(line: string, begun: number): Promise<void>;
  /** Ends the person's own command. @returns whether a command was running */
  interrupt(): boolean;
  /** Runs a command of `teams` for the person, and shows its output. */
  teams(words: readonly string[]): Promise<void>;
}

export interface PaneLinesOptions extends AgentCommandsOptions {
  readonly call: Pick<AnyCall, "io" | "runProgram">;
  readonly plain: boolean;
  width(): number;
  /** Runs the person's own command. */
  readonly runCommand?: typeof runCommandGroup;
  /** Runs the commands that are not commands of `teams`. */
  readonly own: Partial<Record<SlashName, (words: readonly string[]) => void | Promise<void>>>;
}

/** Time limit of the person's own command, in milliseconds. */
const SHELL_LIMIT_MS = 24 * 60 * 60 * 1000;

export function paneLines(options: PaneLinesOptions): PaneLines {
  const { ref, name: agent, call, view, worker, plain, width, runCommand = runCommandGroup, own } = options;
  const { io } = call;
  const actions = agentCommands(options);
  let shell: AbortController | undefined;
  let shellCount = 0;

  const runCaptured = async (
    words: readonly string[],
    more: Env = {},
    cwd = io.cwd,
  ): Promise<{ code: number; text: string }> => {
    let text = "";
    const write = (piece: string): void => {
      text += piece;
    };
    const env = { ...personsEnv(io.env), ...more };
    const argv = [...words, "--team", ref.team];
    const { signal } = new AbortController();
    const code = await call.runProgram(capturedIo(io, { argv, env, cwd, columns: width(), write, signal }));
    return { code, text: text.trimEnd() };
  };
  const teams = async (words: readonly string[], cwd?: string): Promise<void> => {
    const { code, text } = await runCaptured(words, plain ? { NO_COLOR: "1" } : { FORCE_COLOR: "1" }, cwd);
    if (code === EXIT.done) view.answer(text);
    else view.error(stripControls(text));
  };
  const runShell = async (command: string): Promise<void> => {
    if (shell !== undefined) {
      view.note("one of your commands is still running; Esc ends it");
      return;
    }
    shell = new AbortController();
    shellCount += 1;
    const id = `shell-${shellCount}`;
    view.event({ type: "tool_started", id, tool: OWN_COMMAND, summary: command });
    const output = new OutputTail(MAX_OUTPUT);
    const ended = (how: string): void => {
      const content = [output.text.trimEnd(), how].filter((part) => part !== "").join("\n");
      view.event({ type: "tool_ended", id, tool: OWN_COMMAND, content, isError: how !== "", ms: 0 });
    };
    try {
      const end = await runCommand(io.env.SHELL || "sh", ["-c", command], {
        cwd: io.cwd,
        env: personsEnv(io.env),
        timeoutMs: SHELL_LIMIT_MS,
        signal: shell.signal,
        onOutput: (stream, bytes) => {
          output.add(bytes, stream);
          view.event({ type: "tool_output", id, tail: output.text });
        },
      });
      ended(endNote(end));
    } catch (error) {
      ended(`(the command may still be running: ${messageOf(error)})`);
    } finally {
      shell = undefined;
    }
  };
  /** @param words the name of the file, which may contain spaces */
  const exportConversation = async (words: readonly string[]): Promise<void> => {
    const file = words.length === 0 ? defaultName(ref.team, agent) : words.join(" ");
    const { code, text } = await runCaptured(["logs", agent, "--all"], { NO_COLOR: "1" });
    if (code !== EXIT.done) {
      view.error(text);
      return;
    }
    const named = file.replace(/^~(?=\/)/, () => homeDirectory(io.env));
    const path = resolve(io.cwd, named);
    try {
      writeNew(path, `${text}\n`);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
      throw new TeamError("INVALID_INPUT", `${path} already exists; nothing was written.`, {
        hint: "Name another file: /export <file>",
      });
    }
    view.note(`the conversation was written to ${path}`);
  };
  const showCost = async (): Promise<void> => {
    const { code, text } = await runCaptured(["status", "--json"]);
    if (code !== EXIT.done) {
      view.error(text);
      return;
    }
    const { members }: { members: readonly MemberStatus[] } = JSON.parse(text);
    const mine = members.filter((member) => member.name === agent);
    view.answer(`this agent: ${costText(mine)}\nthe team:   ${costText(members)}`);
  };
  const run = async (name: SlashName, words: readonly string[]): Promise<void> => {
    const commandLine = teamsCommand(name, agent, words);
    if (commandLine !== undefined) {
      const { inLeadDirectory } = slashCommand(name, agent);
      return teams(commandLine, inLeadDirectory && leadDirectory(ref));
    }
    if (name === "help") view.answer(slashHelp(agent, width() - 1));
    else if (name === "cost") await showCost();
    else if (name === "mode") actions.showMode();
    else if (name === "model") actions.model(words[0]);
    else if (name === "compact") actions.compact(words.join(" "));
    else if (name === "clear") actions.clear();
    else if (name === "export") await exportConversation(words);
    else await own[name]?.(words);
  };
  return {
    async handle(line, begun) {
      const parsed = parsePaneLine(line, agent, (path) => entryOf(path) !== undefined);
      if (parsed.kind === "message") return worker.handleTypedLine(line, begun);
      view.typed(line);
      try {
        if (parsed.kind === "unknown") view.note(parsed.reason);
        else if (parsed.kind === "shell") await runShell(parsed.command);
        else await run(parsed.name, parsed.words);
      } catch (error) {
        view.error(messageWithHint(error));
      }
    },
    interrupt() {
      shell?.abort();
      return shell !== undefined;
    },
    teams,
  };
}

function leadDirectory(ref: TeamRef): string | undefined {
  return readTeam(ref).members.find(({ name }) => name === LEAD_NAME)?.cwd;
}

/** Maximum characters that are kept from the end of the output of a person's command. */
const MAX_OUTPUT = 100_000;

function endNote({ code, signal, failure, message, left }: CommandEnd): string {
  if (left !== undefined) return `(could not be ended, and still running: ${left.join(", ")})`;
  if (failure === "aborted") return "(ended by you)";
  if (failure === "not-started") return `(not started: ${message ?? "unknown"})`;
  if (failure === "timed-out") return "(ended after a day)";
  if (signal !== undefined) return `(ended by ${signal})`;
  return code === 0 ? "" : `(exit code ${code})`;
}

function costText(members: readonly MemberStatus[]): string {
  const cost = members.reduce((sum, { costUsd }) => sum + costUsd, 0);
  const tokens = members.reduce((sum, member) => sum + sumOf(member.tokens), 0);
  const output = members.reduce((sum, member) => sum + member.tokens.output, 0);
  return `${compact(tokens)} tokens, ${compact(output)} of them output${cost === 0 ? "" : `, $${cost.toFixed(2)}`}`;
}

function defaultName(team: string, agent: string): string {
  return `teams-${team}-${agent}.txt`.replace(/[^\w.@-]/g, "_");
}

/** Returns the environment without the agent's identity: a command that a person types belongs to no agent. */
function personsEnv({ TEAMS_AGENT: _agent, TEAMS_HOOK: _hook, ...env }: Env): Env {
  return env;
}
