import type { RequestError } from "@agentclientprotocol/sdk";
import { type ErrorCode, TeamError } from "../../errors.ts";
import { failureOf } from "../../terminal/report-error.ts";
import { stripControls } from "../../text/terminal-text.ts";

/** Codes of JSON-RPC and of the Agent Client Protocol. */
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;

const CODES: Partial<Record<ErrorCode, number>> = {
  INVALID_INPUT: INVALID_PARAMS,
  INVALID_NAME: INVALID_PARAMS,
  TEAM_NOT_FOUND: NOT_FOUND,
  ALREADY_LEADING: INVALID_REQUEST,
  PERMISSION_DENIED: INVALID_REQUEST,
  AGENT_BUSY: INVALID_REQUEST,
  ACTIVE_MEMBERS: INVALID_REQUEST,
  INVALID_MODEL: INVALID_PARAMS,
};

/** Details of an error that the user can fix by logging in or setting another key. The client gets ACP's "auth required". */
export const NEEDS_LOGIN = { needsLogin: true } as const;

/** The class of the SDK, which only `teams acp` loads. */
type RpcError = typeof RequestError;

/** Returns an error as the answer to a request: what failed, the state now, and what to do next. */
function rpcError(Rpc: RpcError, error: unknown): RequestError {
  if (error instanceof Rpc) return error;
  const { code, message, hint } = failureOf(error);
  const text = stripControls(hint === undefined ? message : `${message} ${hint}`);
  return new Rpc(codeOf(error), text, { code, ...(hint === undefined ? {} : { hint }) });
}

function codeOf(error: unknown): number {
  if (!(error instanceof TeamError)) return INTERNAL;
  return error.details?.needsLogin === true ? AUTH_REQUIRED : (CODES[error.code] ?? INTERNAL);
}

/** Returns a function that runs the handler of a request, and answers the request with an error if it fails. */
export function answering(Rpc: RpcError): <T>(work: () => Promise<T>) => Promise<T> {
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      throw rpcError(Rpc, error);
    }
  };
}
