/* What conversations are called.

   sessionName(card)   its first question, on one line; its id where that is not known, or may not be shown. `card`: of a
                       conversation, or a request of it. Requests of keys that no upstream has answered are one
   sessionLink(card, props?)   a link to it, with its id as the title */

import { h } from "./dom.js";
import { register, t } from "./i18n.js";
import { href } from "./route.js";

register({ en: { "names.unanswered": "never answered" }, es: { "names.unanswered": "nunca respondidos" } });

const UNANSWERED = "unanswered/"; // of keys that no upstream has answered yet

export const sessionName = (card) => (card.session === UNANSWERED ? t("names.unanswered") : named(card));

const named = (card) => card.session_question || (card.session_question === undefined && card.question) || card.session;

export const sessionLink = (card, props = {}) =>
  h("a", { href: href("session", card.session, { scope: card.scope }), title: card.session, ...props }, sessionName(card));
