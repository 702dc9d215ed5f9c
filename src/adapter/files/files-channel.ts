import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { messageOf, TeamError } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { removeTree } from "../../os/files/fs.ts";
import { type ScreenProgram, startOnScreen } from "../../os/process/screen-program.ts";
import { awaitTools, SCREEN_TIMEOUTS } from "../await-tools.ts";
import type { Channel, ChannelEvents, ChannelSetup } from "../channel.ts";
import { interruptScreen } from "../native/interrupt-screen.ts";
import { fieldsOf } from "../reported-values.ts";
import { notStarted, requireProgram } from "../require-program.ts";
import { startStep } from "../start-step.ts";
import { ChatRecord } from "./chat-record.ts";
import { wasEntered } from "./prompt-log.ts";
import { QwenDelivery } from "./qwen-delivery.ts";
import { QwenFiles } from "./qwen-files.ts";
import { QwenPermissions } from "./qwen-permissions.ts";
import { QwenTurns } from "./qwen-turns.ts";

/** Opens the channel to Qwen with its own screen: Qwen writes events to one file, and reads commands from another. */
export function openFilesChannel(setup: ChannelSetup, events: ChannelEvents): Channel {
  return new FilesChannel(setup, events);
}

/** Time limit in milliseconds for the first event. */
const START_MS = 60_000;
const START_DIALOG = { name: "Qwen is not ready", remedy: "look in its pane for a dialog or a login" };
/** Wait in milliseconds after the tools connect, until the tools and the conversation are usable. */
const SETTLE_MS = 500;
/** Milliseconds between two polls of the record while calls are open. */
const RECORD_MS = 500;
/** An interrupt counts as failed after this many milliseconds. */
const ESCAPE_MS = 2_000;
/** A refused call without a record counts as cancelled after this many milliseconds. */
const CANCEL_MS = 1_000;
const POLL_MS = 100;
/** Maximum presses of Escape, `ESCAPE_MS` apart: a second one within a second would delete a draft. */
const PRESSES = 2;

class FilesChannel implements Channel {
  readonly #setup: ChannelSetup;
  readonly #events: ChannelEvents;
  readonly #ending = new AbortController();
  readonly #files: QwenFiles;
  readonly #turns: QwenTurns;
  readonly #permissions: QwenPermissions;
  readonly #delivery: QwenDelivery;
  readonly #record: ChatRecord;
  #program: ScreenProgram | undefined;
  #onSession: () => void = () => undefined;
  #isStarted = false;
  #isPolling = false;

  constructor(setup: ChannelSetup, events: ChannelEvents) {
    this.#setup = setup;
    this.#events = events;
    this.#files = new QwenFiles(join(setup.directory, "qwen"), (event) => this.#onEvent(event));
    this.#turns = new QwenTurns({
      cwd: setup.cwd,
      events,
      resume: (refusals) => this.#delivery.resume(refusals),
      closed: (callId) => {
        this.#permissions.closed(callId);
        if (callId === undefined) this.#files.empty();
      },
    });
    this.#permissions = new QwenPermissions({
      cwd: setup.cwd,
      events,
      answer: (id, allowed) => this.#files.answer(id, allowed),
      refused: (callId, why) => this.#onRefused(callId, why),
    });
    const [turns, files, signal] = [this.#turns, this.#files, this.#ending.signal];
    const env = { ...setup.env, ...setup.adapter.env };
    this.#record = new ChatRecord(env, (callId) => this.#turns.cancelled(callId));
    this.#delivery = new QwenDelivery({
      turns,
      files,
      events,
      signal,
      wasEntered: (text, since) => wasEntered(env, this.#record.session, text, since),
    });
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  async start(conversation: string | undefined): Promise<string | undefined> {
    const { adapter, env, sandbox } = this.#setup;
    if (sandbox !== undefined) {
      throw new TeamError("SPAWN_FAILED", `${adapter.id} cannot run in a sandbox; it was not started.`, {
        hint: `Start it without --sandbox, or use --cli ${adapter.id}-acp.`,
      });
    }
    const file = requireProgram(adapter, env);
    const known = conversation !== undefined && this.#has(conversation) ? conversation : undefined;
    if (conversation !== undefined && known === undefined)
      this.#events.note(`${adapter.id} no longer has its earlier conversation and starts a new one`);
    const session = known ?? randomUUID();
    try {
      await this.#open(file, known === undefined ? ["--session-id", session] : ["--resume", session]);
    } catch (error) {
      await this.end();
      if (error instanceof TeamError) throw error;
      throw notStarted(adapter, messageOf(error), {
        needs: "It must support --json-file and --input-file.",
        cause: error,
      });
    }
    return adapter.resume === "none" ? undefined : session;
  }

  #has(conversation: string): boolean {
    const { adapter, env } = this.#setup;
    return adapter.resume !== "none" && ChatRecord.has({ ...env, ...adapter.env }, conversation);
  }

  async #open(file: string, session: readonly string[]): Promise<void> {
    const { adapter, cwd } = this.#setup;
    const { args, env } = this.#files.create(this.#setup);
    const began = new Promise<void>((resolve) => {
      this.#onSession = resolve;
    });
    if (this.#isEnding) throw new Error("it is shutting down");
    const program = startOnScreen(file, [...adapter.args, ...args, ...session], { cwd, env });
    this.#program = program;
    const ended = program.ended.then(({ how }) => how);
    await startStep(ended, START_MS, () => began);
    const failed = ended.then((how) => Promise.reject(new Error(`it ended with ${how}`)));
    failed.catch(() => undefined);
    await Promise.race([this.#ready(), failed]);
    this.#isStarted = true;
    void program.ended.then((end) => this.#onEnded(end));
  }

  /** Waits until Qwen has the team's tools, which it connects to after every startup dialog. */
  async #ready(): Promise<void> {
    const signal = this.#ending.signal;
    await awaitTools(this.#setup, this.#events, { timeouts: SCREEN_TIMEOUTS, signal, dialog: START_DIALOG });
    await pause(SETTLE_MS, this.#ending.signal);
    if (this.#isEnding) throw new Error("it is shutting down");
  }

  async deliver(text: string): Promise<void> {
    if (!this.#isStarted || this.#isEnding) throw new Error("it is not running");
    await this.#delivery.deliver(text);
  }

  #onRefused(callId: string, why: string | undefined): void {
    if (why !== undefined) this.#turns.refused(callId, why);
    // If Qwen keeps no record, nothing confirms the refusal.
    void pause(CANCEL_MS, this.#ending.signal).then((end) => {
      if (end === "elapsed" && !this.#record.read()) this.#turns.cancelled(callId);
    });
  }

  async interrupt(): Promise<void> {
    const { adapter, env, place } = this.#setup;
    if (!this.#turns.isRunning) return;
    this.#turns.interrupted();
    const isTaken = await this.#waitFor(() => this.#turns.isTaken);
    this.#delivery.stop();
    if (!isTaken) {
      this.#turns.forget();
      return;
    }
    const isOver = (): boolean => !this.#turns.isRunning;
    // Refusing all open requests also ends the turn, without a key.
    if (this.#permissions.refuseAll() && (await this.#waitFor(isOver))) return;
    // Qwen ignores Escape at the moment a turn begins.
    for (let i = 0; i < PRESSES && !isOver(); i += 1) {
      const why = await interruptScreen({ place, env, ownText: this.#delivery.submitted });
      if (why !== undefined)
        throw new Error(
          `Escape was not pressed in the pane of ${adapter.id}, so its turn was not interrupted: ${why}`,
        );
      await this.#waitFor(isOver);
    }
    if (!isOver())
      this.#events.note(
        `Escape did not interrupt ${adapter.id}: text in its input line may have consumed the key. Clear the input line, then interrupt again`,
      );
  }

  async #waitFor(done: () => boolean): Promise<boolean> {
    for (let waited = 0; waited < ESCAPE_MS && !done(); waited += POLL_MS)
      await pause(POLL_MS, this.#ending.signal);
    return done();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    this.#turns.fail(new Error("it is shutting down"));
    this.#permissions.closed(undefined);
    try {
      await this.#program?.end();
    } finally {
      this.#files.close();
      removeTree(this.#files.directory);
    }
  }

  #onEvent(event: Readonly<Record<string, unknown>>): void {
    if (this.#isEnding) return;
    const { type, subtype, session_id, data } = event;
    if (typeof session_id === "string") this.#record.open(session_id);
    if (type === "system" && subtype === "session_start") {
      this.#delivery.forgets = fieldsOf(data).protocol_version === 1;
      this.#onSession();
      return;
    }
    // The model is answering, so the text has arrived.
    if (type === "stream_event" && this.#turns.isTaken) this.#delivery.stop();
    this.#permissions.event(event);
    this.#turns.event(event);
    if (this.#turns.hasOpenCalls) void this.#pollRecord();
  }

  /** Reads Qwen's record while calls are open. */
  async #pollRecord(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    while (this.#turns.hasOpenCalls && !this.#isEnding) {
      this.#record.read();
      await pause(RECORD_MS, this.#ending.signal);
    }
    this.#isPolling = false;
  }

  #onEnded({ how, isDeliberate }: { readonly how: string; readonly isDeliberate: boolean }): void {
    if (this.#isEnding) return;
    // The CLI may have left child processes.
    this.end().catch((error: unknown) => this.#events.note(messageOf(error)));
    this.#events.ended(isDeliberate ? undefined : `${how}.`);
  }
}
