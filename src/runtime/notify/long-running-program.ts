import { randomBytes } from "node:crypto";
import { messageOf, TeamError } from "../../errors.ts";
import {
  type ApprovalDetails,
  answerAgentRequest,
  approvalDetails,
} from "../../operations/approvals/approvals.ts";
import { follow } from "../../operations/follow-team.ts";
import { after, type Clock, steadyNow } from "../../os/clock.ts";
import { type PipedProgram, startPiped } from "../../os/process/piped-program.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { type NotifyPlace, notifyEnv } from "./notify-place.ts";
import { readProgramAnswer } from "./program-answer.ts";
import { readLines } from "./program-lines.ts";
import { errorText } from "./run-command.ts";

interface ProgramOptions extends NotifyPlace {
  readonly clock: Clock;
  /** By default {@link RESTART_MS}. */
  readonly restartMs?: readonly number[];
  problem(text: string): void;
}

/** A request that the program may answer. */
interface Announced {
  readonly id: string;
  readonly text: string;
}

/** Milliseconds before each restart after an unexpected end; after the last one, the program is not restarted. */
const RESTART_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];
/** A program that ran for this many milliseconds did not fail to start. */
const STABLE_MS = 60_000;
/** Maximum bytes that wait for a program that does not read; later lines are dropped. */
const MAX_UNREAD = 1024 * 1024;

/**
 * A long-running program of `teams.notify`. It gets a JSON line for each notification, and answers requests by its output lines. Each
 * announced request has a token that is in no file: an answer counts once, and only for that request. Without a line of the program,
 * nothing is answered.
 */
export class LongRunningProgram {
  readonly #words: string | readonly string[];
  readonly #options: ProgramOptions;
  readonly #open = new Map<string, Announced>();
  readonly #closing = new AbortController();
  #program: PipedProgram | undefined;
  #startedAt = 0;
  #failures = 0;
  #cancelRestart: (() => void) | undefined;
  #isGivenUp = false;
  #isWatching = false;
  #hasReported = false;

  constructor(words: string | readonly string[], options: ProgramOptions) {
    this.#words = words;
    this.#options = options;
  }

  /** Sends a notification; with a request, also a token with which the program can answer it. */
  async announce(text: string, request: string | undefined): Promise<void> {
    if (this.#closing.signal.aborted || this.#isGivenUp) return;
    const { ref, agent } = this.#options;
    const isRunning = this.#program !== undefined;
    if (!isRunning && this.#cancelRestart === undefined) this.#start();
    const details = request === undefined ? undefined : await this.#detailsOf(request);
    if (details === undefined) {
      if (request === undefined) this.#send({ type: "notice", team: ref.team, agent, text });
      return;
    }
    // A program that is about to start again gets the open requests then.
    const token = randomBytes(16).toString("hex");
    this.#open.set(token, { id: details.id, text });
    this.#send(requestLine(token, text, ref.team, details));
    this.#watch();
  }

  /** Ends the program and every process that it started. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#cancelRestart?.();
    this.#open.clear();
    await this.#program?.end();
  }

  #start(): void {
    const [file = "", ...args] =
      typeof this.#words === "string" ? ["/bin/sh", "-c", this.#words] : this.#words;
    this.#startedAt = steadyNow();
    const { cwd } = this.#options;
    const env = notifyEnv(this.#options);
    const program = startPiped(file, args, { cwd, env, endsWithParent: true });
    this.#program = program;
    readLines(program.stdout, (line) => void this.#handleLine(line));
    program.ended.then((how) => this.#ended(program, how)).catch((error: unknown) => this.#report(error));
  }

  async #ended(program: PipedProgram, how: string): Promise<void> {
    // Ends the watcher of its lifeline, and its background processes.
    await program.end();
    if (this.#closing.signal.aborted) return;
    this.#program = undefined;
    if (steadyNow() - this.#startedAt >= STABLE_MS) this.#failures = 0;
    const wait = (this.#options.restartMs ?? RESTART_MS)[this.#failures];
    this.#failures += 1;
    const why = [how, errorText(program.errors(), this.#options)].filter((part) => part !== "").join(": ");
    if (wait === undefined) {
      this.#isGivenUp = true;
      this.#open.clear();
      this.#options.problem(`teams.notify ended ${this.#failures} times and is not restarted: ${why}`);
      return;
    }
    this.#options.problem(`teams.notify ended and will restart in ${wait / 1_000} s: ${why}`);
    this.#cancelRestart = after(wait, () => {
      this.#cancelRestart = undefined;
      this.#restart().catch((error: unknown) => this.#report(error));
    });
  }

  /** Restarts the program, and announces the open requests with new tokens. */
  async #restart(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    this.#start();
    for (const { id, text } of open)
      await this.announce(text, id).catch((error: unknown) => this.#report(error));
  }

  #send(line: object): void {
    const { stdin } = this.#program ?? {};
    if (stdin === undefined || !stdin.writable || stdin.writableLength > MAX_UNREAD) return;
    stdin.write(`${JSON.stringify(wellFormed(line))}\n`);
  }

  async #handleLine(line: string | undefined): Promise<void> {
    let token: string | undefined;
    try {
      const answer = readProgramAnswer(line);
      token = answer.token;
      const announced = this.#open.get(token);
      if (announced === undefined) {
        throw new TeamError(
          "REQUEST_NOT_FOUND",
          "The token is unknown or already used; nothing was answered.",
        );
      }
      // Removed before the answer, so that a second line with this token finds nothing.
      this.#open.delete(token);
      await this.#answer(announced.id, answer, () => {
        this.#open.set(answer.token, announced);
        this.#watch();
      });
      this.#send({ type: "result", token, ok: true });
    } catch (error) {
      this.#send({
        type: "result",
        ...(token === undefined ? {} : { token }),
        ok: false,
        error: messageOf(error),
      });
      if (token === undefined && !this.#hasReported) this.#report(error);
    }
  }

  /** @param restore called if the request is still open: a question needs a choice, or an inbox is locked */
  async #answer(
    id: string,
    { approve, note }: ReturnType<typeof readProgramAnswer>,
    restore: () => void,
  ): Promise<void> {
    const { ref, clock } = this.#options;
    try {
      // The person answers through this program, which their own settings name.
      await answerAgentRequest({ ref, clock, actor: LEAD_NAME }, id, {
        approve,
        ...(note === undefined || note.trim() === "" ? {} : { note }),
      });
    } catch (error) {
      if (!isClosed(error)) restore();
      throw error;
    }
  }

  /** Notifies the program when an announced request is answered elsewhere, until no announced request is open. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const check = async (): Promise<boolean> => {
      for (const [token, { id }] of [...this.#open]) {
        const details = await this.#detailsOf(id);
        if (details !== undefined || !this.#open.delete(token)) continue;
        this.#send({ type: "closed", token });
      }
      return this.#open.size === 0;
    };
    follow(this.#options.ref, check, { signal: this.#closing.signal })
      .catch((error: unknown) => {
        this.#open.clear();
        // The agent itself reports the end of its team.
        if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) this.#report(error);
      })
      .finally(() => {
        this.#isWatching = false;
        // A request may have been announced during the last check.
        if (this.#open.size > 0 && !this.#closing.signal.aborted) this.#watch();
      });
  }

  /** @returns undefined if the request has an answer, or is closed */
  async #detailsOf(id: string): Promise<ApprovalDetails | undefined> {
    try {
      const details = await approvalDetails(this.#options.ref, id);
      return details.answer === undefined ? details : undefined;
    } catch (error) {
      if (isClosed(error)) return undefined;
      throw error;
    }
  }

  #report(error: unknown): void {
    this.#hasReported = true;
    this.#options.problem(`teams.notify: ${messageOf(error)}`);
  }
}

/** Whether an error says that a request has an answer, or is closed. */
function isClosed(error: unknown): boolean {
  return error instanceof TeamError && ["ALREADY_ANSWERED", "REQUEST_NOT_FOUND"].includes(error.code);
}

function requestLine(token: string, text: string, team: string, details: ApprovalDetails): object {
  const { id, kind, from, summary, reason, change, input, question, choices, planContent } = details;
  // The answer of `approve` without a note.
  const { default: byDefault } = details;
  return {
    type: "request",
    token,
    team,
    agent: from,
    text,
    request: {
      ...{ id, kind, summary, reason, change, input, question, choices },
      ...{ default: byDefault, plan: planContent },
    },
  };
}
