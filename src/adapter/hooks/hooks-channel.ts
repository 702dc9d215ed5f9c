import { randomUUID } from "node:crypto";
import { join, resolve, sep } from "node:path";
import { messageOf, TeamError } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { isDoneWithin } from "../../os/done-within.ts";
import { removeTree } from "../../os/files/fs.ts";
import { type ScreenProgram, startOnScreen } from "../../os/process/screen-program.ts";
import { untilAborted } from "../../os/until-aborted.ts";
import { awaitTools, SCREEN_TIMEOUTS } from "../await-tools.ts";
import type { Channel, ChannelEvents, ChannelSetup } from "../channel.ts";
import { interruptScreen } from "../native/interrupt-screen.ts";
import { optionArgs } from "../option-args.ts";
import { notStarted, requireProgram } from "../require-program.ts";
import { GeminiCalls, TURN_ENDED } from "./gemini-calls.ts";
import { GeminiHome, hasConversation } from "./gemini-home.ts";
import { type GeminiHook, GeminiHookServer } from "./gemini-hook-server.ts";
import { asPrompt, GeminiInput } from "./gemini-input.ts";
import { GeminiRecord } from "./gemini-record.ts";
import { GeminiTurns } from "./gemini-turns.ts";

/**
 * Opens the channel to Gemini with its own screen: hooks report its events and ask for permission, and the hook at a turn's end passes on
 * the next message.
 */
export function openGeminiHooksChannel(setup: ChannelSetup, events: ChannelEvents): Channel {
  return new GeminiHooksChannel(setup, events);
}

/** Milliseconds without a session until the person is asked to look. */
const SESSION_MS = 15_000;
/** Milliseconds without an input until the person is asked to look. */
const INPUT_MS = 8_000;
/** Milliseconds from then until the start fails. */
const LATE_MS = 600_000;
/** An interrupt counts as failed after this many milliseconds. */
const ESCAPE_MS = 2_000;
/** Maximum wait in milliseconds for an error in the record. */
const RECORD_MS = 500;
const POLL_MS = 50;
/** Value of the hook's `prompt_response` for a turn without an answer. */
const NO_ANSWER = "[no response text]";

const ENDING = "it is shutting down";
const START_DIALOG = {
  name: "Gemini is not ready",
  remedy: "answer the dialog in its pane (folder trust, login), or set GEMINI_API_KEY and start it again",
  isStart: true,
};

class GeminiHooksChannel implements Channel {
  readonly #setup: ChannelSetup;
  readonly #events: ChannelEvents;
  readonly #ending = new AbortController();
  readonly #home: GeminiHome;
  readonly #hooks: GeminiHookServer;
  readonly #calls: GeminiCalls;
  readonly #turns: GeminiTurns;
  readonly #record: GeminiRecord;
  #program: ScreenProgram | undefined;
  #hasEnded = false;
  #input: GeminiInput | undefined;
  #delivery = new AbortController();
  #submitted = "";
  #onSession: () => void = () => undefined;

  constructor(setup: ChannelSetup, events: ChannelEvents) {
    this.#setup = setup;
    this.#events = events;
    this.#home = new GeminiHome(join(setup.directory, "gemini"), { ...setup.env, ...setup.adapter.env });
    this.#hooks = new GeminiHookServer((event, input, hookEnded) => this.#onHook(event, input, hookEnded));
    this.#calls = new GeminiCalls({ cwd: setup.cwd, events });
    this.#turns = new GeminiTurns({ events, closed: () => this.#calls.endTurn() });
    this.#record = new GeminiRecord({
      said: (text) => this.#turns.said(text),
      spent: (spent) => events.spent(spent),
      toolEnded: (call, result) => this.#calls.ended(call, result, call.status !== "success"),
      cancelled: () => this.#turns.cancelled(),
      turnFailed: (why) => this.#turns.turnFailed(why),
    });
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  async start(conversation: string | undefined): Promise<string | undefined> {
    const { adapter, env, sandbox, place } = this.#setup;
    if (sandbox !== undefined || place?.server === undefined) {
      const why = sandbox === undefined ? "needs a tmux pane" : "cannot run in a sandbox";
      throw new TeamError("SPAWN_FAILED", `${adapter.id} ${why}; it was not started.`, {
        hint: `${sandbox === undefined ? "Run it in tmux" : "Start it without --sandbox"}, or use --cli gemini.`,
      });
    }
    const file = requireProgram(adapter, env);
    const isKnown = adapter.resume !== "none" && conversation !== undefined;
    const known = isKnown && hasConversation({ ...env, ...adapter.env }, conversation);
    if (conversation !== undefined && !known)
      this.#events.note(`${adapter.id} no longer has its earlier conversation and starts a new one`);
    const session = known ? conversation : randomUUID();
    try {
      await this.#open(file, [known ? "--resume" : "--session-id", session]);
    } catch (error) {
      await this.end();
      if (error instanceof TeamError) throw error;
      throw notStarted(adapter, messageOf(error), {
        needs: "It must support hooks and --policy.",
        cause: error,
      });
    }
    return adapter.resume === "none" ? undefined : session;
  }

  async #open(file: string, session: readonly string[]): Promise<void> {
    const { adapter, cwd, env, addDirs, servers } = this.#setup;
    const hooks = await this.#hooks.listen(this.#setup.directory);
    this.#home.create(hooks, servers, cwd);
    const began = new Promise<void>((resolve) => {
      this.#onSession = resolve;
    });
    if (this.#isEnding) throw new Error(ENDING);
    const args = [
      ...adapter.args,
      ...optionArgs(this.#setup),
      // Always passed: a person's settings may name a mode in which Gemini asks for less.
      ...["--approval-mode", adapter.modes.default ?? "default", "--policy", this.#home.policy],
      ...addDirs.flatMap((directory) => ["--include-directories", directory]),
      ...session,
    ];
    const program = startOnScreen(file, args, {
      cwd,
      env: { ...env, ...adapter.env, GEMINI_CLI_HOME: this.#home.directory },
    });
    this.#program = program;
    let isStarted = false;
    const ended = program.ended.then((end) => {
      this.#hasEnded = true;
      if (isStarted) this.#onEnded(end);
      throw new Error(`it ended with ${end.how}`);
    });
    ended.catch(() => undefined);
    const input = new GeminiInput({
      setup: this.#setup,
      events: this.#events,
      program: { pid: program.pid, hasEnded: () => this.#hasEnded },
      usesKeychain: this.#home.usesKeychain,
      isBusy: () => !this.#turns.isIdle,
    });
    this.#input = input;
    const shown = began.then(() => input.shown(this.#ending.signal));
    await Promise.race([this.#ready(began, shown), ended]);
    isStarted = true;
  }

  /** Waits for the session, then for the input, since Gemini may ask for a login in between, and for the team's tools. */
  async #ready(began: Promise<void>, shown: Promise<void>): Promise<void> {
    await this.#awaitPerson(SESSION_MS, began, "no session began; check that hooks are on in its settings");
    await this.#awaitPerson(INPUT_MS, shown, "its screen did not show its input");
    await awaitTools(this.#setup, this.#events, { timeouts: SCREEN_TIMEOUTS, signal: this.#ending.signal });
    if (this.#isEnding) throw new Error(ENDING);
  }

  /** Waits; after `ms` milliseconds, asks the person to look at the pane. @throws Error if that does not help within `LATE_MS` */
  async #awaitPerson(ms: number, done: Promise<void>, failure: string): Promise<void> {
    if (await isDoneWithin(ms, done, this.#ending.signal)) return;
    this.#events.blocked(START_DIALOG);
    const isDone = await isDoneWithin(LATE_MS, done, this.#ending.signal);
    this.#events.blocked(undefined);
    if (!isDone) throw new Error(`within ${LATE_MS / 60_000} minutes, ${failure}`);
  }

  async deliver(text: string): Promise<void> {
    if (this.#hasEnded || this.#isEnding) throw new Error("it is not running");
    this.#submitted = asPrompt(text);
    this.#delivery = new AbortController();
    const signal = AbortSignal.any([this.#delivery.signal, this.#ending.signal]);
    const taken = this.#turns.expect(this.#submitted);
    taken.catch(() => undefined);
    // At the end of a turn, the hook passes the text to Gemini. If Gemini waits for input, the text must be typed.
    await Promise.race([taken, this.#turns.whenIdle, untilAborted(signal)]);
    signal.throwIfAborted();
    const isTaken = (): boolean => this.#turns.isTaken;
    const over = new AbortController();
    taken.finally(() => over.abort()).catch(() => undefined);
    try {
      if (!isTaken())
        await this.#input?.deliver(this.#submitted, AbortSignal.any([signal, over.signal]), isTaken);
      await Promise.race([taken, untilAborted(signal)]);
    } catch (error) {
      // A person began a turn meanwhile, and the hook at its end passed on the text.
      if (!isTaken()) throw error;
    }
    if (!isTaken()) throw new Error("it was interrupted before it took the text");
  }

  async interrupt(): Promise<void> {
    const { adapter, env, place } = this.#setup;
    const isTaken = this.#turns.isTaken;
    this.#turns.interrupted();
    this.#delivery.abort(new Error("it was interrupted before it took the text"));
    if (!isTaken) this.#turns.withdraw(new Error("it was interrupted before it took the text"));
    if (!this.#turns.isRunning) return;
    const why = await interruptScreen({ place, env, ownText: this.#submitted });
    if (why !== undefined)
      throw new Error(
        `Escape was not pressed in the pane of ${adapter.id}, so its turn was not interrupted: ${why}`,
      );
    for (let waited = 0; waited < ESCAPE_MS && this.#turns.isRunning; waited += POLL_MS)
      await pause(POLL_MS, this.#ending.signal);
    if (this.#turns.isRunning)
      this.#events.note(
        `Escape did not interrupt ${adapter.id}: text in its input line may have consumed the key. Clear the input line, then interrupt again`,
      );
  }

  async end(): Promise<void> {
    this.#ending.abort(new Error(ENDING));
    this.#turns.withdraw(new Error(ENDING));
    this.#calls.endTurn();
    try {
      await this.#program?.end();
    } finally {
      this.#hooks.close();
      this.#record.close();
      this.#home.restoreLoginFiles((text) => this.#events.note(text));
      removeTree(this.#home.directory);
    }
  }

  async #onHook(
    event: GeminiHook,
    input: Readonly<Record<string, unknown>>,
    hookEnded: AbortSignal,
  ): Promise<object | undefined> {
    if (this.#isEnding) throw new Error(ENDING);
    this.#openRecord(input.transcript_path);
    this.#record.read();
    switch (event) {
      case "SessionStart":
        this.#input?.restarted();
        this.#onSession();
        return undefined;
      case "BeforeAgent":
        this.#turns.began(String(input.prompt));
        return undefined;
      case "BeforeTool": {
        const refusal = this.#turns.isWorking ? await this.#calls.ask(input, hookEnded) : TURN_ENDED;
        return refusal === undefined ? undefined : { decision: "deny", reason: refusal };
      }
      case "Notification":
        if (input.notification_type === "ToolPermission") this.#calls.onQuestion();
        return undefined;
      case "AfterAgent": {
        const next = await this.#onAfterAgent(String(input.prompt_response), hookEnded);
        return next === undefined ? undefined : { decision: "block", reason: next };
      }
    }
  }

  async #onAfterAgent(text: string, hookEnded: AbortSignal): Promise<string | undefined> {
    if (text !== NO_ANSWER) return this.#turns.onTurnEnd(text, hookEnded);
    for (let waited = 0; waited < RECORD_MS && !this.#turns.hasTurnFailed; waited += POLL_MS) {
      await pause(POLL_MS, this.#ending.signal);
      this.#record.read();
    }
    return this.#turns.onTurnEnd("", hookEnded);
  }

  /** Another program of this user may call a hook, so only files in Gemini's directory of records are read. */
  #openRecord(path: unknown): void {
    if (typeof path !== "string" || !path.endsWith(".jsonl")) return;
    if (resolve(path).startsWith(`${this.#home.records}${sep}`)) this.#record.open(resolve(path));
  }

  #onEnded({ how, isDeliberate }: { readonly how: string; readonly isDeliberate: boolean }): void {
    if (this.#isEnding) return;
    // The CLI may have left child processes.
    this.end().catch((error: unknown) => this.#events.note(messageOf(error)));
    this.#events.ended(isDeliberate ? undefined : `${how}.`);
  }
}
