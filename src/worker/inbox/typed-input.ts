import { messageOf, TeamError } from "../../errors.ts";
import type { Clock } from "../../os/clock.ts";
import { newUuid } from "../../os/uuid.ts";
import { plainText } from "../../protocol/messages.ts";
import { TYPED } from "../../schema/inbox.ts";
import { PERSON_NAME } from "../../schema/names.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { PermissionRequests } from "../gates/permission-requests.ts";
import type { Questions } from "../gates/questions.ts";
import type { WorkerView } from "../view.ts";
import type { InboundMessages } from "./arrivals.ts";

export interface TypingOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly desk: Pick<PermissionRequests, "isOpen" | "typed">;
  readonly questions: Questions;
  readonly view: WorkerView;
  readonly clock: Clock;
  /** Take a line that the inbox could not. */
  readonly arrivals: Pick<InboundMessages, "arrived">;
}

/**
 * What a person types in an agent's pane: the answer to a call that waits, or to a question; else words for the model. Those
 * go by the agent's own inbox, as a message that nobody else can send: so a line that waits for its turn outlives the process,
 * and is read once.
 */
export class Typing {
  readonly #options: TypingOptions;

  constructor(options: TypingOptions) {
    this.#options = options;
  }

  /** When this resolves, the line has been an answer, or is in the file. */
  async line(line: string): Promise<void> {
    const { desk, questions } = this.#options;
    if (desk.isOpen && (await desk.typed(line))) return;
    const { said, close } = questions.answeredBy(line);
    await this.#keep(said);
    // Not before: a question that is closed and whose answer is lost would be answered by nobody.
    close();
  }

  async #keep(line: string): Promise<void> {
    const { ref, name: to, clock } = this.#options;
    const text = plainText(line);
    try {
      await sendMessage(ref, { from: PERSON_NAME, to, text, isTyped: true }, clock);
    } catch (error) {
      if (!(error instanceof TeamError)) throw error;
      this.#takeAsItIs(text, error);
    }
  }

  /** A lead whose team is deleted is still spoken to; and nobody types a line again because a file is locked. */
  #takeAsItIs(text: string, why: TeamError): void {
    const { view, clock, arrivals } = this.#options;
    if (why.code !== "TEAM_NOT_FOUND")
      view.error(`kept only as long as this process runs: ${messageOf(why)}`);
    const timestamp = new Date(clock.now()).toISOString();
    const message = { from: PERSON_NAME, text, timestamp, read: false, type: TYPED };
    arrivals.arrived([{ key: newUuid(), message, protocol: undefined }]);
  }
}
