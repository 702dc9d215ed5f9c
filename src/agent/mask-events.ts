import { maskText, maskValue } from "../os/secrets.ts";
import type { AgentEvent } from "./events.ts";

/** Streamed text is passed on as it comes; what tools said and whole messages go out without a secret in them. */
export function maskEvents(
  onEvent: (event: AgentEvent) => void,
  secrets: readonly string[],
): (event: AgentEvent) => void {
  if (secrets.length === 0) return onEvent;
  return (event) => {
    if (event.type === "text") onEvent({ ...event, text: maskText(event.text, secrets) });
    else onEvent(maskValue(event, secrets));
  };
}
