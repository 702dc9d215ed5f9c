import type { ClientConnection, SessionUpdate } from "@agentclientprotocol/sdk";
import { isDoneWithin } from "../../os/done-within.ts";
import type { ChannelSetup } from "../channel.ts";
import { ownMode } from "../option-args.ts";
import { type Fields, fieldsOf } from "../reported-values.ts";
import type { OpenedSession } from "./acp-session.ts";

/** Time limit in milliseconds for a change of the mode: far more than it takes. */
const CHANGE_MS = 60_000;

/** The permission mode of a session, as the CLI names it. */
export class SessionMode {
  readonly #agent: ClientConnection["agent"];
  readonly #setup: Pick<ChannelSetup, "adapter" | "mode">;
  readonly #session: OpenedSession;
  readonly #note: (text: string) => void;
  readonly #changeMs: number;
  /** The mode that the CLI confirmed or reported last; undefined if it is unknown. */
  #modeId: string | undefined;
  #hasNotedNoModes = false;

  /**
   * @param note reports that the CLI has no modes
   * @param changeMs time limit in milliseconds for a change of the mode
   */
  constructor(
    { agent }: ClientConnection,
    setup: Pick<ChannelSetup, "adapter" | "mode">,
    session: OpenedSession,
    note: (text: string) => void,
    changeMs = CHANGE_MS,
  ) {
    this.#agent = agent;
    this.#setup = setup;
    this.#session = session;
    this.#note = note;
    this.#changeMs = changeMs;
  }

  /**
   * Gives the CLI the member's current mode, unless it has that mode. Always sets the first mode: some CLIs start in a mode in which a
   * model decides.
   * @param interrupted ends the wait for the answer of the CLI
   * @throws an error of the connection or of the CLI, or an Error if the CLI does not answer in time
   */
  async follow(interrupted: AbortSignal): Promise<void> {
    const modeId = ownMode(this.#setup);
    if (modeId === undefined || modeId === this.#modeId) return;
    // After a change without an answer, the mode is unknown.
    this.#modeId = undefined;
    const isConfirmed = await isDoneWithin(this.#changeMs, this.#change(modeId), interrupted);
    if (interrupted.aborted) return;
    if (!isConfirmed)
      throw new Error(`it did not confirm the mode ${modeId} within ${this.#changeMs / 1000} s`);
    // The CLI may have reported another mode meanwhile.
    this.#modeId ??= modeId;
  }

  /** Reads the mode from an update, if it reports one: a CLI may change its mode itself. */
  readUpdate(update: SessionUpdate): void {
    if (update.sessionUpdate === "current_mode_update") this.#modeId = update.currentModeId;
    else if (update.sessionUpdate === "config_option_update" && !this.#hasModes) {
      const value = modeOption(update)?.currentValue;
      if (typeof value === "string") this.#modeId = value;
    }
  }

  /** Whether the CLI reported modes besides its options. */
  get #hasModes(): boolean {
    const { modes } = fieldsOf(this.#session.opened);
    return typeof modes === "object" && modes !== null;
  }

  async #change(modeId: string): Promise<void> {
    const { sessionId, opened } = this.#session;
    const option = modeOption(opened);
    if (this.#hasModes) await this.#agent.request("session/set_mode", { sessionId, modeId });
    else if (option !== undefined) {
      const change = { sessionId, configId: String(option.id), value: modeId };
      await this.#agent.request("session/set_config_option", change);
    } else if (!this.#hasNotedNoModes) {
      this.#hasNotedNoModes = true;
      const { id } = this.#setup.adapter;
      this.#note(`${id} has no permission modes; its own settings decide what it asks for`);
    }
  }
}

/** Returns the option for the mode from an answer or an update of the CLI; undefined if there is none. */
function modeOption(report: unknown): Fields | undefined {
  const { configOptions } = fieldsOf(report);
  const options = Array.isArray(configOptions) ? configOptions.map(fieldsOf) : [];
  return options.find(({ category, id }) => category === "mode" || id === "mode");
}
