import type {
  ClientCapabilities,
  ElicitRequestFormParams,
  InputRequiredResult,
  McpRequestContext,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import { TeamError } from "../../errors.ts";
import type { ClientCall, Form, FormAnswer } from "../../team-tools/mcp/client-tool.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";

/** The server package, which is loaded on first use. */
export type Sdk = typeof import("@modelcontextprotocol/server");

/** A person must answer a form within this many milliseconds. */
const FORM_MS = 600_000;
/** The key of a call's only form. */
const KEY = "request";

/** Ends a call that needs a form: the client shows it, and calls again with the answer. */
export class FormNeeded extends Error {
  readonly form: Form;

  constructor(form: Form) {
    super("The person must answer first.");
    this.form = form;
  }
}

interface AskerOptions {
  readonly era: McpRequestContext["era"];
  /** Whether a request over HTTP came from a person's program. */
  isPersons(request: Request): boolean;
}

/**
 * Returns the function with which a call shows a form to the person. A client of the older protocol is asked during the call; a client
 * of the newer protocol gets the form as the result of the call, and repeats the call with the answer.
 * @returns undefined if the client has no forms
 */
export function askerOf(
  sdk: Sdk,
  server: Server,
  { mcpReq, http }: ServerContext,
  { era, isPersons }: AskerOptions,
): ClientCall["ask"] {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const declared = envelope[sdk.CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  if (!showsForms(declared as ClientCapabilities | undefined)) return undefined;
  const requirePerson = (): void => {
    if (http?.req === undefined || isPersons(http.req)) return;
    throw new TeamError(
      "PERMISSION_DENIED",
      "No person is known to have started your client. Nothing was answered.",
      // A hint with a shell command would not reach the model.
      { hint: "Ask the user to answer in the agent's pane, in the sidebar, or on the command line." },
    );
  };
  if (era === "modern") {
    return async (form) => {
      requirePerson();
      const given = sdk.inputResponse(mcpReq.inputResponses, KEY);
      if (given.kind !== "elicit") throw new FormNeeded(form);
      return answerFrom(given);
    };
  }
  return async (form, signal) => {
    requirePerson();
    const options = { signal, timeout: FORM_MS, relatedRequestId: mcpReq.id };
    return answerFrom(await mcpReq.elicitInput(requestOf(form), options));
  };
}

/** A client that declares no details shows forms; a client that declares only URLs does not. */
function showsForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

export function formResult(sdk: Sdk, form: Form): InputRequiredResult {
  return sdk.inputRequired({ inputRequests: { [KEY]: sdk.inputRequired.elicit(requestOf(form)) } });
}

function requestOf({ message, fields, required }: Form): ElicitRequestFormParams {
  return wellFormed({
    message,
    requestedSchema: {
      type: "object",
      properties: fields as ElicitRequestFormParams["requestedSchema"]["properties"],
      required: [...required],
    },
  });
}

function answerFrom(given: {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}): FormAnswer {
  return given.action === "accept"
    ? { action: "accept", content: given.content ?? {} }
    : { action: given.action };
}
