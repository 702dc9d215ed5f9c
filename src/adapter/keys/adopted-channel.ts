import { adoptedPlace } from "../../backend/tmux/foreign-pane.ts";
import { serverAt } from "../../backend/tmux/server-for.ts";
import { messageOf, TeamError } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { findProgram } from "../../os/files/access.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { run } from "../../os/process/run.ts";
import { collectsLines } from "../../os/process/terminal-modes.ts";
import type { AdoptedProgram } from "../../schema/member-metadata.ts";
import { shortenedStart } from "../../text/characters/cut-text.ts";
import type { Channel, ChannelEvents, ChannelSetup } from "../channel.ts";
import { readPaneScreen } from "../native/type-message.ts";
import { cleaned } from "../reported-values.ts";
import { isInForeground } from "./keyboard.ts";
import { KeysPane } from "./keys-pane.ts";
import { shellIn } from "./shell-check.ts";

/** Milliseconds between two polls: the program is not our child, so nothing reports its end. */
const POLL_MS = 1_000;
/** Command of Codex; its `queue` subcommand delivers a message to a thread. */
export const CODEX = "codex";
/** Time limit in milliseconds for a delivery by the program's own command. */
const COMMAND_MS = 60_000;
/** Maximum bytes of a text in one argument of a command: every supported system allows this. */
const MAX_ARGUMENT = 100_000;

/**
 * The channel to a program that a person started. Its end ends only the bridge (this process); the program and its pane continue.
 */
export class AdoptedChannel implements Channel {
  readonly #setup: ChannelSetup;
  readonly #adopted: AdoptedProgram;
  readonly #events: ChannelEvents;
  readonly #ending = new AbortController();
  readonly #pane: KeysPane;
  #delivery: AbortController | undefined;

  constructor(setup: ChannelSetup, adopted: AdoptedProgram, events: ChannelEvents) {
    this.#setup = setup;
    this.#adopted = adopted;
    this.#events = events;
    const { adapter, env, directory, typing } = setup;
    this.#pane = new KeysPane({
      server: serverAt(adopted.pane.server, env),
      place: adoptedPlace(adopted),
      program: {
        hasEnded: () => this.#hasEnded,
        isInForeground: () => !this.#hasEnded && isInForeground(adopted.process.pid),
        shell: () => shellIn(adopted.process.pid),
        collectsLines: () => collectsLines(adopted.tty),
      },
      lock: typing,
      directory,
      tmux: findProgram("tmux", env) ?? "tmux",
      prompt: adapter.prompt,
      events,
    });
  }

  get #hasEnded(): boolean {
    return livenessOf(this.#adopted.process) !== "alive";
  }

  async start(): Promise<undefined> {
    const { program, process, pane } = this.#adopted;
    if (this.#hasEnded || !(await this.#hasPane())) {
      throw new TeamError(
        "SPAWN_FAILED",
        `${program} (process ${process.pid}) no longer runs in pane ${pane.paneId}.`,
        {
          hint: "Remove the member (teams kill <name>), start the program again, then run: teams adopt <pane>",
        },
      );
    }
    await this.#pane.listen();
    void this.#poll();
    return undefined;
  }

  async deliver(text: string, isLast: boolean): Promise<void> {
    // The program keeps running, so a shutdown request is not delivered.
    if (isLast) return this.#events.turnEnded({ outcome: "completed", text: "" });
    const delivery = new AbortController();
    this.#delivery = delivery;
    const signal = AbortSignal.any([this.#ending.signal, delivery.signal]);
    try {
      if (this.#adopted.thread === undefined) await this.#pane.deliver(text, false, signal);
      else await this.#queue(text, signal);
    } catch (error) {
      if (!this.#ending.signal.aborted && !(await this.#hasPane())) this.#ended();
      throw error;
    } finally {
      this.#delivery = undefined;
    }
  }

  /** Delivers a text with `codex queue`. @throws Error if it was not delivered */
  async #queue(text: string, signal: AbortSignal): Promise<void> {
    const { thread } = this.#adopted;
    if (thread === undefined) return;
    if (this.#hasEnded) throw new Error("it has ended; nothing was sent");
    if (Buffer.byteLength(text) > MAX_ARGUMENT)
      throw new Error(`the message is longer than ${MAX_ARGUMENT} bytes, the maximum for codex queue`);
    const { home } = thread;
    const env = { ...this.#setup.env, ...(home === undefined ? {} : { CODEX_HOME: home }) };
    const args = ["queue", "--thread", thread.id, "--message", text];
    const result = await run(CODEX, args, { env, timeoutMs: COMMAND_MS, signal });
    if (result.code !== 0) {
      const words = shortenedStart(cleaned(result.stderr), 300);
      throw new Error(
        `codex queue failed (${result.failure ?? result.signal ?? `exit code ${result.code}`}): ${words}`,
      );
    }
    this.#events.turnEnded({ outcome: "completed", text: "" });
  }

  async interrupt(): Promise<void> {
    this.#delivery?.abort();
    await this.#pane.press(this.#setup.adapter.interruptKey);
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#pane.close();
  }

  async #hasPane(): Promise<boolean> {
    const { server } = this.#adopted.pane;
    try {
      return (
        (await readPaneScreen(serverAt(server, this.#setup.env), adoptedPlace(this.#adopted))) !== undefined
      );
    } catch (error) {
      // tmux did not answer: the next poll asks again.
      this.#events.note(messageOf(error));
      return true;
    }
  }

  async #poll(): Promise<void> {
    const { signal } = this.#ending;
    for (let problem = ""; !signal.aborted; await pause(POLL_MS, signal)) {
      try {
        if (this.#hasEnded || !(await this.#keepOutput())) return this.#ended();
        problem = "";
      } catch (error) {
        // The system or tmux did not answer: the next poll asks again.
        if (messageOf(error) !== problem) this.#events.note(messageOf(error));
        problem = messageOf(error);
      }
    }
  }

  /** Opens the pipe again if it has ended: a person replaced it, or its pane is gone. @returns false if the pane is gone */
  async #keepOutput(): Promise<boolean> {
    if (!this.#pane.hasLostOutput) return true;
    if (!(await this.#hasPane())) return false;
    await this.#pane.listen();
    return true;
  }

  /** Reports the end of the program. Its exit status is unknown: an exit and a crash look the same. */
  #ended(): void {
    if (this.#ending.signal.aborted) return;
    this.end().catch((error: unknown) => this.#events.note(messageOf(error)));
    this.#events.ended(undefined);
  }
}
