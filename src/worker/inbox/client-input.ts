import type { WorkerContext } from "../context.ts";
import type { InboundMessages } from "./inbound-messages.ts";
import type { TypedInput } from "./typed-input.ts";

/** The input of a client that shows the agent to its user, instead of a pane. */
export class ClientInput {
  readonly #context: WorkerContext;
  readonly #typedInput: TypedInput;
  readonly #inbound: InboundMessages;

  constructor(context: WorkerContext, typedInput: TypedInput, inbound: InboundMessages) {
    this.#context = context;
    this.#typedInput = typedInput;
    this.#inbound = inbound;
  }

  /**
   * Takes a line of the user: the answer to an open question, or input for the model; never the answer to a permission request.
   * @returns the key of its message, for {@link withdraw}
   */
  prompt(line: string): Promise<string> {
    return this.#typedInput.handlePrompt(line);
  }

  /**
   * Drops messages that no turn has taken yet: they start no turn, and count as read.
   * @param keys of the messages
   * @returns the keys of the messages that waited for a turn; the others are dropped when they are read, or a turn has taken them
   */
  withdraw(keys: readonly string[]): Promise<readonly string[]> {
    return this.#inbound.withdraw(keys);
  }

  /** Adds a text of this program to the next turn, without starting one. */
  addToNext(text: string): void {
    this.#context.queue.addToNext(text);
  }
}
