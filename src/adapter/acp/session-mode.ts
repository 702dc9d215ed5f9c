import type { ClientConnection } from "@agentclientprotocol/sdk";
import { isDoneWithin } from "../../os/done-within.ts";
import type { ChannelSetup } from "../channel.ts";
import { ownMode } from "../option-args.ts";
import { fieldsOf } from "../requests.ts";
import type { OpenedSession } from "./acp-session.ts";

/** Far more than a change of the mode takes, in milliseconds. */
const CHANGE_MS = 60_000;

/** The permission mode of a session, as the CLI names it. */
export class SessionMode {
  readonly #agent: ClientConnection["agent"];
  readonly #setup: Pick<ChannelSetup, "adapter" | "mode">;
  readonly #session: OpenedSession;
  readonly #note: (text: string) => void;
  readonly #changeMs: number;
  /** The mode that the CLI has confirmed; undefined without one. */
  #modeId: string | undefined;

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
   * Sets the mode of now, unless it is set. The first one is set explicitly: some CLIs start in a mode in which a model decides.
   * @throws an error of the connection or of the CLI, or an Error if the CLI does not answer in time
   */
  async follow(): Promise<void> {
    const modeId = ownMode(this.#setup);
    if (modeId === undefined || modeId === this.#modeId) return;
    // After a change without an answer, the mode is unknown.
    this.#modeId = undefined;
    if (!(await isDoneWithin(this.#changeMs, this.#change(modeId), NEVER)))
      throw new Error(`it has not confirmed its mode ${modeId} within ${this.#changeMs / 1000} s`);
    this.#modeId = modeId;
  }

  async #change(modeId: string): Promise<void> {
    const { sessionId, opened } = this.#session;
    const { modes, configOptions } = fieldsOf(opened);
    const options = Array.isArray(configOptions) ? configOptions.map(fieldsOf) : [];
    const option = options.find(({ category, id }) => category === "mode" || id === "mode");
    if (typeof modes === "object" && modes !== null)
      await this.#agent.request("session/set_mode", { sessionId, modeId });
    else if (option !== undefined) {
      const change = { sessionId, configId: String(option.id), value: modeId };
      await this.#agent.request("session/set_config_option", change);
    } else {
      const { id } = this.#setup.adapter;
      this.#note(`${id} has no permission modes; its own settings decide what it asks for`);
    }
  }
}

/** A change ends only with its answer, or with its time. */
const NEVER = new AbortController().signal;
