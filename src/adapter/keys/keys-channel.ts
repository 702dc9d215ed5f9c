import { serverAt } from "../../backend/tmux/server-for.ts";
import { messageOf, TeamError } from "../../errors.ts";
import { findProgram } from "../../os/files/access.ts";
import { type ScreenProgram, startOnScreen } from "../../os/process/screen-program.ts";
import { collectsLines } from "../../os/process/terminal-modes.ts";
import type { Channel, ChannelEvents, ChannelSetup } from "../channel.ts";
import { optionArgs } from "../option-args.ts";
import { notStarted, requireProgram } from "../require-program.ts";
import { AdoptedChannel } from "./adopted-channel.ts";
import { isInForeground } from "./keyboard.ts";
import { KeysPane } from "./keys-pane.ts";
import { type FoundShell, shellIn } from "./shell-check.ts";

/**
 * Opens the channel to any program with its own screen: messages are typed into the member's pane or, for an adopted program, into the
 * person's pane.
 */
export function openKeysChannel(setup: ChannelSetup, events: ChannelEvents): Channel {
  const { adopted } = setup;
  return adopted === undefined ? new KeysChannel(setup, events) : new AdoptedChannel(setup, adopted, events);
}

class KeysChannel implements Channel {
  readonly #setup: ChannelSetup;
  readonly #events: ChannelEvents;
  readonly #ending = new AbortController();
  #program: ScreenProgram | undefined;
  #pane: KeysPane | undefined;
  #hasEnded = false;
  /** Cancels the current delivery. */
  #delivery: AbortController | undefined;

  constructor(setup: ChannelSetup, events: ChannelEvents) {
    this.#setup = setup;
    this.#events = events;
  }

  async start(): Promise<undefined> {
    const { adapter, cwd, env, sandbox, directory, place, typing, outputCopy } = this.#setup;
    const file = requireProgram(adapter, env);
    if (place?.server === undefined) {
      throw new TeamError(
        "SPAWN_FAILED",
        `${adapter.id} gets its messages by keyboard, so it needs a tmux pane; it was not started.`,
        {
          hint: "Start it in tmux, or with --teammate-mode tmux.",
        },
      );
    }
    const pane = new KeysPane({
      server: serverAt(place.server, env),
      place,
      program: {
        hasEnded: () => this.#hasEnded,
        isInForeground: () => isInForeground(this.#program?.pid),
        shell: () => shellIn(this.#program?.pid),
        collectsLines: () => collectsLines(),
      },
      lock: typing,
      copy: outputCopy,
      directory,
      tmux: findProgram("tmux", env) ?? "tmux",
      prompt: adapter.prompt,
      events: this.#events,
    });
    this.#pane = pane;
    // Listen before the program's first output.
    await pane.listen();
    const command = {
      file,
      args: [...adapter.args, ...optionArgs(this.#setup)],
      env: { ...env, ...adapter.env },
    };
    const wrapped = (await sandbox?.wrap(command, cwd)) ?? command;
    if (this.#ending.signal.aborted) throw new Error("it is shutting down");
    const program = startOnScreen(wrapped.file, wrapped.args, { cwd, env: wrapped.env });
    this.#program = program;
    let isStarted = false;
    void program.ended.then((end) => {
      this.#hasEnded = true;
      if (isStarted) this.#onEnded(end);
    });
    await pane.ready(this.#ending.signal);
    if (this.#hasEnded) {
      const { how } = await program.ended;
      await this.end();
      throw notStarted(adapter, `it ended with ${how}.`);
    }
    const shell = shellIn(program.pid);
    if (shell !== undefined) {
      await this.end();
      throw shellRefusal(adapter.id, shell);
    }
    isStarted = true;
    return undefined;
  }

  async deliver(text: string, isLast: boolean): Promise<void> {
    const pane = this.#pane;
    if (pane === undefined || this.#hasEnded) throw new Error("it is not running");
    const delivery = new AbortController();
    this.#delivery = delivery;
    try {
      await pane.deliver(text, isLast, AbortSignal.any([this.#ending.signal, delivery.signal]));
    } finally {
      this.#delivery = undefined;
    }
  }

  async interrupt(): Promise<void> {
    this.#delivery?.abort();
    if (!this.#hasEnded) await this.#pane?.press(this.#setup.adapter.interruptKey);
  }

  async end(): Promise<void> {
    this.#ending.abort();
    try {
      await this.#program?.end();
    } finally {
      await this.#pane?.close();
    }
  }

  #onEnded({ how, isDeliberate }: { readonly how: string; readonly isDeliberate: boolean }): void {
    if (this.#ending.signal.aborted) return;
    // The CLI may have left child processes.
    this.end().catch((error: unknown) => this.#events.note(messageOf(error)));
    this.#events.ended(isDeliberate ? undefined : `${how}.`);
  }
}

/** Returns the error for a shell that the command line of an adapter does not show: it runs `env`, `script` or a copied shell. */
function shellRefusal(id: string, { name }: FoundShell): TeamError {
  return new TeamError(
    "SPAWN_FAILED",
    `${id} starts a shell (${name}), which would run each message as a command, so it was ended.`,
    { hint: "In its entry under teams.adapters, name the program that the shell would start, or a script." },
  );
}
