import { join } from "node:path";
import { messageOf, TeamError } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { ensureOwnDirectory } from "../../os/files/app-directories.ts";
import { removeTree, writeNew } from "../../os/files/fs.ts";
import { type ScreenProgram, startOnScreen } from "../../os/process/screen-program.ts";
import { awaitTools, SCREEN_TIMEOUTS } from "../await-tools.ts";
import type { Channel, ChannelEvents, ChannelSetup } from "../channel.ts";
import { waitForEnd } from "../last-words.ts";
import { optionArgs, ownMode } from "../option-args.ts";
import { fieldsOf } from "../reported-values.ts";
import { notStarted, requireProgram } from "../require-program.ts";
import { startStep } from "../start-step.ts";
import { Bridge } from "./bridge.ts";
import { bridgePlugin } from "./bridge-plugin.ts";
import { HttpPermissions } from "./http-permissions.ts";
import { textOf } from "./http-requests.ts";
import { PERMISSION, settingsOf } from "./http-settings.ts";
import { HttpTurn } from "./http-turn.ts";

/** Opens the channel to OpenCode with its own screen: a plugin in its process reaches its HTTP interface without a port. */
export function openHttpChannel(setup: ChannelSetup, events: ChannelEvents): Channel {
  return new HttpChannel(setup, events);
}

/** Time limit in milliseconds for the start: without a network, OpenCode first waits for a package that it wants to install. */
const START_MS = 180_000;
/** Milliseconds between two attempts to show the session. */
const SHOW_MS = 1_000;
/** Number of these attempts: the screen is ready later than the session, and nothing reports when. */
const SHOWS = 15;

class HttpChannel implements Channel {
  readonly #setup: ChannelSetup;
  readonly #events: ChannelEvents;
  readonly #ending = new AbortController();
  #program: ScreenProgram | undefined;
  #bridge: Bridge | undefined;
  #permissions: HttpPermissions | undefined;
  #turn: HttpTurn | undefined;
  #session = "";
  #isStarted = false;
  /** Resolves once the end of the connection is reported. */
  #closing: Promise<void> | undefined;

  constructor(setup: ChannelSetup, events: ChannelEvents) {
    this.#setup = setup;
    this.#events = events;
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  async start(conversation: string | undefined): Promise<string | undefined> {
    const { adapter, env } = this.#setup;
    const file = requireProgram(adapter, env);
    try {
      const { bridge, program } = await this.#open(file);
      const ended = program.ended.then(({ how }) => how);
      const session = await startStep(ended, START_MS, () => this.#connect(bridge, conversation));
      this.#isStarted = true;
      void program.ended.then((end) => this.#onEnded(end));
      await awaitTools(this.#setup, this.#events, { timeouts: SCREEN_TIMEOUTS, signal: this.#ending.signal });
      return session;
    } catch (error) {
      await this.end();
      if (error instanceof TeamError) throw error;
      throw notStarted(adapter, messageOf(error), {
        needs: `It must be able to load plugins; ${adapter.id}-acp needs none.`,
        cause: error,
      });
    }
  }

  async #open(file: string): Promise<{ readonly bridge: Bridge; readonly program: ScreenProgram }> {
    const { adapter, cwd, sandbox, directory } = this.#setup;
    const bridge = new Bridge({
      happened: (type, properties) => this.#onEvent(type, fieldsOf(properties)),
      closed: () => {
        this.#closing = this.#onClosed();
      },
    });
    const place = join(directory, "opencode");
    const plugin = join(place, "teams-bridge.mjs");
    const socketPath = join(place, "s");
    const { env, ...settings } = settingsOf(this.#setup, plugin);
    ensureOwnDirectory(place);
    this.#bridge = bridge;
    await bridge.listen({ path: socketPath, directory: place, remove: () => removeTree(place) });
    writeNew(plugin, bridgePlugin({ socketPath, permission: PERMISSION, ...settings }));
    const args = [...adapter.args, ...optionArgs(this.#setup)];
    const command = { file, args, env };
    const wrapped = (await sandbox?.wrap(command, cwd)) ?? command;
    if (this.#isEnding) throw new Error("it is shutting down");
    const program = startOnScreen(wrapped.file, wrapped.args, { cwd, env: wrapped.env });
    this.#program = program;
    return { bridge, program };
  }

  async #connect(bridge: Bridge, conversation: string | undefined): Promise<string | undefined> {
    await bridge.ready;
    this.#session = await this.#openSession(bridge, conversation);
    this.#turn = new HttpTurn(this.#session, this.#events, () => void this.#abort(bridge));
    this.#permissions = new HttpPermissions(bridge, this.#session, this.#setup.cwd, this.#events);
    void this.#show(bridge);
    return this.#setup.adapter.resume === "none" ? undefined : this.#session;
  }

  /** Shows the session in OpenCode's screen. The session also works if the screen does not show it. */
  async #show(bridge: Bridge): Promise<void> {
    for (let i = 0; i < SHOWS && !this.#isEnding; i += 1) {
      await bridge
        .request("POST", "/tui/select-session", { sessionID: this.#session })
        .catch(() => undefined);
      await pause(SHOW_MS, this.#ending.signal);
    }
  }

  async #openSession(bridge: Bridge, conversation: string | undefined): Promise<string> {
    const { adapter } = this.#setup;
    if (conversation !== undefined && adapter.resume !== "none") {
      try {
        await bridge.request("GET", `/session/${encodeURIComponent(conversation)}`);
        return conversation;
      } catch (error) {
        this.#events.note(
          `${adapter.id} could not resume its earlier conversation, so it starts a new one: ${messageOf(error)}`,
        );
      }
    }
    const id = textOf(fieldsOf(await bridge.request("POST", "/session", {})).id);
    if (id === undefined || id === "") throw new Error("it returned no session id");
    return id;
  }

  #onEvent(type: string, properties: Readonly<Record<string, unknown>>): void {
    if (type.startsWith("permission.") || type.startsWith("question.")) {
      this.#permissions?.event(type, properties);
      return;
    }
    this.#turn?.event(type, properties);
    if (this.#turn?.isRunning === false) this.#permissions?.endTurn();
  }

  async deliver(text: string): Promise<void> {
    const turn = this.#turn;
    if (turn === undefined || this.#isEnding) throw new Error("it is not running");
    const taken = turn.begin();
    const agent = ownMode(this.#setup);
    const body = { parts: [{ type: "text", text }], ...(agent === undefined ? {} : { agent }) };
    const sent = this.#bridge?.request("POST", `/session/${this.#session}/prompt_async`, body);
    try {
      // OpenCode may end, or start the turn, before it answers.
      await Promise.race([taken, sent?.then(() => taken)]);
    } catch (error) {
      turn.forget();
      await this.#closing;
      throw error;
    }
    sent?.catch(() => undefined);
  }

  async interrupt(): Promise<void> {
    if (this.#turn?.isRunning !== true) return;
    this.#turn.interrupted();
    await this.#bridge?.request("POST", `/session/${this.#session}/abort`);
  }

  async #abort(bridge: Bridge): Promise<void> {
    await bridge
      .request("POST", `/session/${this.#session}/abort`)
      .catch((error: unknown) => this.#events.note(messageOf(error)));
  }

  async end(): Promise<void> {
    this.#ending.abort();
    this.#turn?.fail(new Error("it is shutting down"));
    try {
      await this.#program?.end();
    } finally {
      this.#bridge?.close();
    }
  }

  async #onClosed(): Promise<void> {
    if (!this.#isStarted) return;
    await waitForEnd(this.#program?.ended, this.#ending.signal);
    this.#onEnded({ how: "the teams plugin in it lost its connection", isDeliberate: false });
  }

  #onEnded({ how, isDeliberate }: { readonly how: string; readonly isDeliberate: boolean }): void {
    if (this.#isEnding) return;
    // The CLI may have left child processes.
    this.end().catch((error: unknown) => this.#events.note(messageOf(error)));
    this.#events.ended(isDeliberate ? undefined : `${how}.`);
    this.#turn?.fail(new Error(`it ended with ${how}`));
  }
}
