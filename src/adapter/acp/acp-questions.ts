import type {
  CreateElicitationRequest as Elicitation,
  CreateElicitationResponse as ElicitationAnswer,
} from "@agentclientprotocol/sdk";
import type { ChannelQuestion } from "../channel.ts";
import { askFields } from "../questions/ask-fields.ts";
import { formContent, formFields } from "../questions/form-fields.ts";
import { fieldsOf } from "../reported-values.ts";

export type { Elicitation, ElicitationAnswer };

/**
 * Asks a person the questions of a form. A request to open a URL is not a form; we do not announce support for it.
 * @returns undefined for a form that cannot be asked as questions
 */
export async function answerElicitation(
  request: Elicitation,
  ask: (question: ChannelQuestion) => Promise<string | undefined>,
): Promise<ElicitationAnswer | undefined> {
  const { mode, message, requestedSchema } = fieldsOf(request);
  const fields = mode === "form" ? formFields(message, requestedSchema) : undefined;
  if (fields === undefined) return undefined;
  const content = formContent(await askFields(fields, ask));
  return content === undefined ? { action: "decline" } : { action: "accept", content: { ...content } };
}
