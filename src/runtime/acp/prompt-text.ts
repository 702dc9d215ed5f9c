import type { ContentBlock } from "@agentclientprotocol/sdk";
import { TeamError } from "../../errors.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { MAX_EMBEDDED, MAX_PROMPT } from "./limits.ts";
import { oneLine } from "./tool-call.ts";

/**
 * Returns the text of a prompt: its texts, links as their addresses, and embedded files as quoted text.
 * @throws TeamError INVALID_INPUT if it is empty or too long, or has content of an unsupported type
 */
export function promptText(blocks: readonly ContentBlock[]): string {
  const text = wellFormed(blocks.map(textOf).join("\n\n")).trim();
  if (text === "") throw refused("The prompt has no text.", "Send at least one block of text.");
  if (text.length > MAX_PROMPT)
    throw refused(
      `The prompt has ${text.length} characters; the maximum is ${MAX_PROMPT}.`,
      "Put the text into a file, and name the file.",
    );
  return text;
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return linkText(block.name, block.uri);
    case "resource": {
      const { resource } = block;
      if (!("text" in resource)) throw unsupported("a binary resource");
      const { uri, text } = resource;
      if (text.length > MAX_EMBEDDED) return `${linkText("", uri)} (too long to include in this prompt)`;
      return `<context ref="${attribute(uri)}">\n${text.replace(CONTEXT_END, "&lt;$1")}\n</context>`;
    }
    default:
      throw unsupported(`content of the type ${JSON.stringify(oneLine(String(block.type)))}`);
  }
}

/** The end tag of a file: inside a file, it would make the rest look like the user's own text. */
const CONTEXT_END = /<(\s*\/\s*context)/gi;

function linkText(name: string, uri: string): string {
  const address = oneLine(uri);
  const label = oneLine(name);
  return label === "" || label === address ? address : `${label}: ${address}`;
}

function attribute(uri: string): string {
  return oneLine(uri).replaceAll('"', "%22").replaceAll("<", "%3C").replaceAll(">", "%3E");
}

function unsupported(what: string): TeamError {
  return refused(`A prompt cannot contain ${what}.`, "Send text, links and embedded text files.");
}

function refused(message: string, hint: string): TeamError {
  return new TeamError("INVALID_INPUT", `${message} Nothing was sent.`, { hint });
}
