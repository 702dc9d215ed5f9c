import type { ClientConnection } from "@agentclientprotocol/sdk";
import type { ChannelSetup } from "../channel.ts";
import { ownMode } from "../option-args.ts";
import { fieldsOf } from "../requests.ts";
import type { OpenedSession } from "./acp-session.ts";

/** The permission mode of a session, as the CLI names it. */
export class SessionMode {
  readonly #agent: ClientConnection["agent"];
  readonly #setup: ChannelSetup;
  readonly #session: OpenedSession;
  readonly #note: (text: string) => void;
  /** The mode that was set last. */
  #modeId: string | undefined;

  /** @param note reports that the CLI has no modes */
  constructor(
    { agent }: ClientConnection,
    setup: ChannelSetup,
    session: OpenedSession,
    note: (text: string) => void,
  ) {
    this.#agent = agent;
    this.#setup = setup;
    this.#session = session;
    this.#note = note;
  }

  /**
   * Sets the mode of now, unless it is set. The first one is set explicitly: some CLIs start in a mode in which a model decides.
   * @throws an error of the connection or of the CLI
   */
  async follow(): Promise<void> {
    const modeId = ownMode(this.#setup);
    if (modeId === undefined || modeId === this.#modeId) return;
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
    this.#modeId = modeId;
  }
}
