import {
  type HookEvent,
  type HookRecord,
  hookRecord,
  type LastWordsRecord,
  lastWordsRecord,
} from "../status.ts";
import { type Form, isNumber, isText, listOf, looseObject, oneOf, optional } from "./guard.ts";

const EVENTS: Readonly<Record<HookEvent, true>> = {
  started: true,
  prompted: true,
  tool: true,
  asking: true,
  resting: true,
  interrupted: true,
};

export const hookForm: Form<HookRecord> = {
  guard: looseObject<HookRecord>({
    instance: optional(isText),
    event: oneOf(EVENTS),
    at: isNumber,
    conversation: optional(isText),
    transcript: optional(isText),
    detail: optional(isText),
  }),
  schema: () => hookRecord,
};

export const lastWordsForm: Form<LastWordsRecord> = {
  guard: looseObject<LastWordsRecord>({
    turns: listOf(looseObject<LastWordsRecord["turns"][number]>({ at: isNumber, text: isText })),
  }),
  schema: () => lastWordsRecord,
};
