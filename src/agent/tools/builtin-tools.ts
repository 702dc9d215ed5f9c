import type { AnyTool } from "../tool.ts";
import { taskOutputTool, taskStopTool } from "./background-tasks.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { readTool } from "./read.ts";
import { webFetchTool } from "./web-fetch.ts";
import { writeTool } from "./write.ts";

/** The tools that every agent can have, which touch files and commands and know no team. */
export function builtinTools(): AnyTool[] {
  return [
    readTool,
    writeTool,
    editTool,
    globTool,
    grepTool,
    bashTool,
    webFetchTool,
    taskOutputTool,
    taskStopTool,
  ];
}
