"""Beginnings of questions in several languages, written for this project.

Put before a few words of a passage they make a query that has the form of a question (studies/student.py). The last
entry of each language is its question mark.
"""

from __future__ import annotations

_LINES = {
    "en": """What is|What are|What was|Who is|Who was|Who said|Why is|Why did|Why was|Why do|How is|How did|How do|How
    many|How much|How long did|How often|How old is|How can I|How do I|How does|When did|When was|When will|Where
    is|Where was|Where did|Which|Which country|Which company|Which team|What happened to|What happened after|What
    caused|What is the reason for|What does it mean|What do people say about|What is known about|What can be done
    about|What should people do about|What did the government say about|Is it true that|Can|Does|Did|Is there|What
    kind of|What effect has|What are the symptoms of|What is the difference between|Who won|Who pays for|What
    is planned for|In which year|At what age|Tell me about|What changed in|What comes after|What number of|?""",
    "de": "Was ist|Wer ist|Warum|Wie|Wie viele|Wann|Wo|Welche|Was geschah mit|Wie kann ich|?",
    "fr": "Qu'est-ce que|Qui est|Pourquoi|Comment|Combien de|Quand|Où|Quel|Que s'est-il passé|?",
    "es": "¿Qué es|¿Quién es|¿Por qué|¿Cómo|¿Cuántos|¿Cuándo|¿Dónde|¿Cuál es|¿Qué pasó con|?",
    "it": "Che cos'è|Chi è|Perché|Come|Quanti|Quando|Dove|Quale|Che cosa è successo|?",
    "pt": "O que é|Quem é|Por que|Como|Quantos|Quando|Onde|Qual|O que aconteceu com|?",
    "nl": "Wat is|Wie is|Waarom|Hoe|Hoeveel|Wanneer|Waar|Welke|?",
    "sv": "Vad är|Vem är|Varför|Hur|Hur många|När|Var|Vilken|?",
    "pl": "Co to jest|Kto|Dlaczego|Jak|Ile|Kiedy|Gdzie|Który|?",
    "cs": "Co je|Kdo|Proč|Jak|Kolik|Kdy|Kde|Který|?",
    "ru": "Что такое|Кто|Почему|Как|Сколько|Когда|Где|Какой|Что случилось с|?",
    "uk": "Що таке|Хто|Чому|Як|Скільки|Коли|Де|Який|?",
    "tr": "Nedir|Kim|Neden|Nasıl|Kaç|Ne zaman|Nerede|Hangi|?",
    "fi": "Mikä on|Kuka|Miksi|Miten|Kuinka monta|Milloin|Missä|?",
    "hu": "Mi az|Ki|Miért|Hogyan|Hány|Mikor|Hol|Melyik|?",
    "id": "Apa itu|Siapa|Mengapa|Bagaimana|Berapa|Kapan|Di mana|?",
    "vi": "Cái gì là|Ai|Tại sao|Làm thế nào|Bao nhiêu|Khi nào|Ở đâu|?",
    "ar": "ما هو|من هو|لماذا|كيف|كم|متى|أين|؟",
    "fa": "چه|چه کسی|چرا|چگونه|چند|کی|کجا|؟",
    "hi": "क्या|कौन|क्यों|कैसे|कितने|कब|कहाँ|?",
    "zh": "什么是|谁|为什么|如何|多少|什么时候|哪里|？",
    "ja": "なぜ|どのように|いつ|どこで|誰が|何が|いくつの|？",
    "ko": "무엇이|누가|왜|어떻게|몇|언제|어디서|?",
    "sw": "Nini|Nani|Kwa nini|Vipi|Lini|Wapi|?",
}

#: Openers by language; the last one is the question mark.
OPENERS = {lang: [" ".join(opener.split()) for opener in line.split("|")] for lang, line in _LINES.items()}
