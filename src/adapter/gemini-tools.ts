import { resolve } from "node:path";
import { oneLine } from "./reported-values.ts";
import {
  commandRequest,
  editRequest,
  fetchRequest,
  type RequestOfCall,
  readRequest,
} from "./request-shapes.ts";

/** A tool call of Gemini, or of Qwen Code, which is a fork of Gemini CLI. */
export interface GeminiCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Maps a call to our permission rules. An unknown tool counts as external: it needs permission. */
export function requestOf({ tool, input }: GeminiCall, cwd: string): RequestOfCall {
  const { command, directory, dir_path, file_path, absolute_path, path, url, prompt } = input;
  const { old_string, new_string, content } = input;
  switch (tool) {
    case "run_shell_command":
      if (typeof command === "string") return commandRequest(command, directory ?? dir_path, cwd);
      break;
    case "edit":
    case "replace":
    case "write_file": {
      if (typeof file_path !== "string") break;
      const change = { old_string: old_string ?? "", new_string: new_string ?? content ?? "" };
      return editRequest([resolve(cwd, file_path)], change);
    }
    case "read_file": {
      const file = file_path ?? absolute_path;
      if (typeof file === "string") return readRequest([resolve(cwd, file)]);
      break;
    }
    case "list_directory":
    case "glob":
    case "grep_search": {
      const place = path ?? dir_path;
      return readRequest([resolve(cwd, typeof place === "string" ? place : ".")]);
    }
    case "web_fetch": {
      const fetched = fetchRequest(url ?? onlyUrl(prompt));
      if (fetched !== undefined) return fetched;
      break;
    }
  }
  const name = /^[\w.-]{1,64}/.exec(tool)?.[0] ?? "tool";
  return {
    tool: name,
    summary: oneLine(`${tool} ${JSON.stringify(input)}`),
    input,
    access: { kind: "external" },
  };
}

/** Returns the only URL of a text; undefined if it has several, because Gemini fetches them all. */
function onlyUrl(text: unknown): string | undefined {
  const [first, ...more] = typeof text === "string" ? (text.match(/[a-z]+:\/\/\S+/gi) ?? []) : [];
  return more.length === 0 ? first : undefined;
}
