<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <source>What a model reads</source>
        <translation>Was ein Modell liest</translation>
    </message>
    <message>
        <source>Questions</source>
        <translation>Fragen</translation>
    </message>
    <message>
        <source>Endpoint calls</source>
        <translation>Endpunktaufrufe</translation>
    </message>
    <message>
        <source>Refused</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source>Index</source>
        <translation>Index</translation>
    </message>
    <message>
        <source>Errors and notices</source>
        <translation>Fehler und Hinweise</translation>
    </message>
    <message>
        <source>Repairs</source>
        <translation>Reparaturen</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Feedback</source>
        <translation>Rückmeldung</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Background request</source>
        <translation>Hintergrundanfrage</translation>
    </message>
    <message>
        <source>Embedding</source>
        <translation>Einbettung</translation>
    </message>
    <message>
        <source>Transcription</source>
        <translation>Transkription</translation>
    </message>
    <message>
        <source>Examination of the model</source>
        <translation>Prüfung des Modells</translation>
    </message>
    <message>
        <source>Test of the endpoint</source>
        <translation>Test des Endpunkts</translation>
    </message>
    <message>
        <source>Liked an answer</source>
        <translation>Gute Bewertung einer Antwort</translation>
    </message>
    <message>
        <source>Disliked an answer</source>
        <translation>Schlechte Bewertung einer Antwort</translation>
    </message>
    <message>
        <source>Withdrew the feedback on an answer</source>
        <translation>Zurückgenommene Rückmeldung zu einer Antwort</translation>
    </message>
    <message>
        <source>Rewrote an answer</source>
        <translation>Umgeschriebene Antwort</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>read</source>
        <translation>gelesen</translation>
    </message>
    <message>
        <source>was scanned</source>
        <translation>wurde durchsucht</translation>
    </message>
    <message>
        <source>was read</source>
        <translation>wurde gelesen</translation>
    </message>
    <message>
        <source>a chat</source>
        <translation>einem Chat</translation>
    </message>
    <message>
        <source>Question in {chat}</source>
        <translation>Frage in {chat}</translation>
    </message>
    <message>
        <source>Request</source>
        <translation>Anfrage</translation>
    </message>
    <message>
        <source>{what} by {value}</source>
        <translation>{what} mit {value}</translation>
    </message>
    <message>
        <source>an endpoint</source>
        <translation>einem Endpunkt</translation>
    </message>
    <message>
        <source>was changed</source>
        <translation>wurde geändert</translation>
    </message>
    <message>
        <source>A source</source>
        <translation>Eine Quelle</translation>
    </message>
    <message>
        <source>Settings changed</source>
        <translation>Einstellungen geändert</translation>
    </message>
    <message>
        <source>{value} in {chat}</source>
        <translation>{value} in {chat}</translation>
    </message>
    <message>
        <source>excerpts</source>
        <translation>Auszüge</translation>
    </message>
    <message>
        <source>at {host}</source>
        <translation>bei {host}</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Endpoint call</source>
        <translation>Endpunktaufruf</translation>
    </message>
    <message>
        <source>Repair</source>
        <translation>Reparatur</translation>
    </message>
    <message>
        <source>about </source>
        <translation>etwa </translation>
    </message>
    <message>
        <source>{about}{tokens_in:,} tokens in, {tokens_out:,} out</source>
        <translation>{about}{tokens_in:,} Token Eingabe, {tokens_out:,} Ausgabe</translation>
    </message>
    <message>
        <source>Opening the library</source>
        <translation>Bibliothek wird geöffnet</translation>
    </message>
    <message>
        <source>Looking for changes</source>
        <translation>Änderungen werden gesucht</translation>
    </message>
    <message>
        <source>Reading files</source>
        <translation>Dateien werden gelesen</translation>
    </message>
    <message>
        <source>Searchable by words. Preparing search by meaning</source>
        <translation>Nach Wörtern durchsuchbar. Suche nach Bedeutung wird vorbereitet</translation>
    </message>
    <message>
        <source>Searchable. Refining long passages</source>
        <translation>Durchsuchbar. Lange Textstellen werden verfeinert</translation>
    </message>
    <message>
        <source>Searchable. Reading pictures and scanned pages</source>
        <translation>Durchsuchbar. Bilder und gescannte Seiten werden gelesen</translation>
    </message>
    <message>
        <source>Indexing is paused</source>
        <translation>Indizierung ist pausiert</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>Lesen</translation>
    </message>
    <message>
        <source>Search by meaning</source>
        <translation>Suche nach Bedeutung</translation>
    </message>
    <message>
        <source>Long passages</source>
        <translation>Lange Textstellen</translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>reading files</source>
        <translation>Dateien lesen</translation>
    </message>
    <message>
        <source>search by meaning</source>
        <translation>Suche nach Bedeutung</translation>
    </message>
    <message>
        <source>long passages</source>
        <translation>lange Textstellen</translation>
    </message>
    <message>
        <source>pictures</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>Up to date</source>
        <translation>Auf dem neuesten Stand</translation>
    </message>
    <message>
        <source>No documents yet</source>
        <translation>Noch keine Dokumente</translation>
    </message>
    <message>
        <source>then {step}</source>
        <translation>dann {step}</translation>
    </message>
    <message>
        <source>then {step}, {duration}</source>
        <translation>dann {step}, {duration}</translation>
    </message>
    <message>
        <source>{files}, up to date</source>
        <translation>{files}, auf dem neuesten Stand</translation>
    </message>
    <message>
        <source>{percent} overall</source>
        <translation>{percent} insgesamt</translation>
    </message>
    <message>
        <source>{duration} left</source>
        <translation>noch {duration}</translation>
    </message>
    <message>
        <source>{files_done:,} of {files}</source>
        <translation>{files_done:,} von {files}</translation>
    </message>
    <message>
        <source>Pictures and scanned pages are read last: {pictures}, {duration}</source>
        <translation>Bilder und gescannte Seiten kommen zuletzt: {pictures}, {duration}</translation>
    </message>
    <message>
        <source>{pictures} not read yet, {duration}: paused</source>
        <translation>{pictures} noch nicht gelesen, {duration}: angehalten</translation>
    </message>
    <message>
        <source>{pictures} not read yet, {duration}</source>
        <translation>{pictures} noch nicht gelesen, {duration}</translation>
    </message>
    <message>
        <source>Read {count:,} pictures and scanned pages? That takes {duration}.</source>
        <translation>{count:,} Bilder und gescannte Seiten lesen? Das dauert {duration}.</translation>
    </message>
    <message>
        <source>1 picture</source>
        <translation>1 Bild</translation>
    </message>
    <message>
        <source>{count:,} pictures</source>
        <translation>{count:,} Bilder</translation>
    </message>
    <message>
        <source>{files}, {unread:,} not read</source>
        <translation>{files}, {unread:,} nicht gelesen</translation>
    </message>
    <message>
        <source>{count:,} files</source>
        <translation>{count:,} Dateien</translation>
    </message>
    <message>
        <source>1 file</source>
        <translation>1 Datei</translation>
    </message>
    <message>
        <source>less than a minute</source>
        <translation>weniger als eine Minute</translation>
    </message>
    <message>
        <source>about {value} min</source>
        <translation>etwa {value} Min.</translation>
    </message>
    <message>
        <source>about {hours} h {minutes} min</source>
        <translation>etwa {hours} Std. {minutes} Min.</translation>
    </message>
    <message>
        <source>about {hours} h</source>
        <translation>etwa {hours} Std.</translation>
    </message>
    <message>
        <source>Attach files to this chat</source>
        <translation>Dateien an diesen Chat anhängen</translation>
    </message>
    <message>
        <source>Show or hide chats</source>
        <translation>Chats ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Chat options</source>
        <translation>Chat-Optionen</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren…</translation>
    </message>
    <message>
        <source>Show or hide sources</source>
        <translation>Quellen ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Lösen</translation>
    </message>
    <message>
        <source>Stop the answer</source>
        <translation>Antwort anhalten</translation>
    </message>
    <message>
        <source>Deleted “{title_of}”.</source>
        <translation>„{title_of}“ wurde gelöscht.</translation>
    </message>
    <message>
        <source>The answer was replaced by a new one.</source>
        <translation>Die Antwort wurde durch eine neue ersetzt.</translation>
    </message>
    <message>
        <source>The answer was removed.</source>
        <translation>Die Antwort wurde entfernt.</translation>
    </message>
    <message>
        <source>Ask every file</source>
        <translation>Jede Datei befragen</translation>
    </message>
    <message>
        <source>Ask {count:,} files one by one?

Each relevant file takes one request to {model}. You can stop at any time and keep what was found so far.</source>
        <translation>{count:,} Dateien einzeln befragen?

Jede passende Datei kostet eine Anfrage an {model}. Sie können jederzeit anhalten und behalten, was bis dahin gefunden wurde.</translation>
    </message>
    <message>
        <source>Ask files</source>
        <translation>Dateien befragen</translation>
    </message>
    <message>
        <source>Check with the model</source>
        <translation>Mit dem Modell prüfen</translation>
    </message>
    <message>
        <source>, {cost:.2g} at the known prices</source>
        <translation>, {cost:.2g} nach den bekannten Preisen</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>PDF (*.pdf)</source>
        <translation>PDF (*.pdf)</translation>
    </message>
    <message>
        <source>Word and LibreOffice (*.odt)</source>
        <translation>Word und LibreOffice (*.odt)</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation>Webseite (*.html)</translation>
    </message>
    <message>
        <source>To import it again (*.json)</source>
        <translation>Zum erneuten Importieren (*.json)</translation>
    </message>
    <message>
        <source>Exactly what the app sent for this answer. It is kept in memory until the app closes, and written nowhere.</source>
        <translation>Genau das hat die App für diese Antwort gesendet. Es bleibt im Arbeitsspeicher, bis die App geschlossen wird, und wird nirgends gespeichert.</translation>
    </message>
    <message>
        <source>What was sent for this answer is not known any more: it is kept in memory only, until the app closes.</source>
        <translation>Was für diese Antwort gesendet wurde, ist nicht mehr bekannt: Es bleibt nur im Arbeitsspeicher, bis die App geschlossen wird.</translation>
    </message>
    <message>
        <source>What was sent to the model</source>
        <translation>Was an das Modell gesendet wurde</translation>
    </message>
    <message>
        <source>To {model} at {host}, {moment}</source>
        <translation>An {model} auf {host}, {moment}</translation>
    </message>
    <message>
        <source>Have {model} check answers too?

It reads the sentences that a comparison of words leaves open, and their sources. They go to {host} in one request for each answer: about {tokens:,} tokens for this one{cost}. First it is measured with 40 sample sentences.</source>
        <translation>Soll {model} Antworten mitprüfen?

Es liest die Sätze, die ein Vergleich der Wörter offen lässt, und ihre Quellen. Sie gehen in einer Anfrage je Antwort an {host}: bei dieser etwa {tokens:,} Tokens{cost}. Zuerst wird es mit 40 Beispielsätzen gemessen.</translation>
    </message>
    <message>
        <source>Check every answer</source>
        <translation>Jede Antwort prüfen</translation>
    </message>
    <message>
        <source>Answers to later questions can cite it.</source>
        <translation>Antworten auf spätere Fragen können sie zitieren.</translation>
    </message>
    <message>
        <source>Your answer was saved.</source>
        <translation>Ihre Antwort wurde gespeichert.</translation>
    </message>
    <message>
        <source>Your answer was deleted.</source>
        <translation>Ihre Antwort wurde gelöscht.</translation>
    </message>
    <message>
        <source>Export chat</source>
        <translation>Chat exportieren</translation>
    </message>
    <message>
        <source>The chat could not be exported.</source>
        <translation>Der Chat konnte nicht exportiert werden.</translation>
    </message>
    <message>
        <source>Choose another location.</source>
        <translation>Wählen Sie einen anderen Speicherort.</translation>
    </message>
    <message>
        <source>Exported to {path}.</source>
        <translation>Exportiert nach {path}.</translation>
    </message>
    <message>
        <source>Import chat</source>
        <translation>Chat importieren</translation>
    </message>
    <message>
        <source>Exported chats (*.json)</source>
        <translation>Exportierte Chats (*.json)</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>New chat (Ctrl+N)</source>
        <translation>Neuer Chat (Strg+N)</translation>
    </message>
    <message>
        <source>Import chat…</source>
        <translation>Chat importieren…</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>Chats durchsuchen</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <source>Not stored, ends with the app</source>
        <translation>Nicht gespeichert</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <source>From the terminal</source>
        <translation>Aus dem Terminal</translation>
    </message>
    <message>
        <source>Ask your documents</source>
        <translation>Fragen Sie Ihre Dokumente</translation>
    </message>
    <message>
        <source>Nothing else is read for your questions.</source>
        <translation>Für Ihre Fragen wird nichts anderes gelesen.</translation>
    </message>
    <message>
        <source>No model is connected, so answers are excerpts from your documents.</source>
        <translation>Es ist kein Modell verbunden, daher sind Antworten Auszüge aus Ihren Dokumenten.</translation>
    </message>
    <message>
        <source>No model is connected, and without documents only a model can answer.</source>
        <translation>Es ist kein Modell verbunden, und ohne Dokumente kann nur ein Modell antworten.</translation>
    </message>
    <message>
        <source>Excerpts are chosen above, so answers are excerpts from your documents. To ask a model, choose it there.</source>
        <translation>Oben sind Auszüge gewählt, daher sind Antworten Auszüge aus Ihren Dokumenten. Um ein Modell zu fragen, wählen Sie es dort.</translation>
    </message>
    <message>
        <source>Excerpts are chosen above, and without documents only a model can answer. Choose one there.</source>
        <translation>Oben sind Auszüge gewählt, und ohne Dokumente kann nur ein Modell antworten. Wählen Sie dort eines.</translation>
    </message>
    <message>
        <source>The model answers from what it knows. Your documents are not searched, and answers have no sources and no checks.</source>
        <translation>Das Modell antwortet aus seinem eigenen Wissen. Ihre Dokumente werden nicht durchsucht, und Antworten haben weder Quellen noch Prüfungen.</translation>
    </message>
    <message>
        <source>Getting started</source>
        <translation>Erste Schritte</translation>
    </message>
    <message>
        <source>Opening the library…</source>
        <translation>Bibliothek wird geöffnet…</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>Connect a model…</source>
        <translation>Modell verbinden…</translation>
    </message>
    <message>
        <source>Summarise the documents</source>
        <translation>Die Dokumente zusammenfassen</translation>
    </message>
    <message>
        <source>Add a folder of documents, then ask anything about them. They stay on this computer, and changes are picked up automatically.</source>
        <translation>Fügen Sie einen Ordner mit Dokumenten hinzu und stellen Sie beliebige Fragen dazu. Die Dokumente bleiben auf diesem Computer, und Änderungen werden automatisch übernommen.</translation>
    </message>
    <message>
        <source>Ask anything about your {count_of}. Every answer has numbered sources that open at the right page or section.</source>
        <translation>Stellen Sie beliebige Fragen zu Ihrer Bibliothek ({count_of}). Jede Antwort hat nummerierte Quellen, die sich an der richtigen Seite oder im richtigen Abschnitt öffnen.</translation>
    </message>
    <message>
        <source>Your question is asked once the files can be searched.</source>
        <translation>Ihre Frage wird gestellt, sobald die Dateien durchsucht werden können.</translation>
    </message>
    <message>
        <source>{read:,} of {files} asked, {matched:,} matched</source>
        <translation>{read:,} von {files} befragt, {matched:,} passen</translation>
    </message>
    <message>
        <source>unknown tool</source>
        <translation>unbekanntes Werkzeug</translation>
    </message>
    <message>
        <source>Could not use {tool}</source>
        <translation>{tool} war nicht verwendbar</translation>
    </message>
    <message>
        <source>Searched “{query}” in {where}: {count}</source>
        <translation>„{query}“ in {where} gesucht: {count}</translation>
    </message>
    <message>
        <source>Searched “{query}”: {count}</source>
        <translation>„{query}“ gesucht: {count}</translation>
    </message>
    <message>
        <source>Read {name}</source>
        <translation>{name} gelesen</translation>
    </message>
    <message>
        <source>file</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Looked for files “{words}”: {count}</source>
        <translation>Nach Dateien „{words}“ gesucht: {count}</translation>
    </message>
    <message>
        <source>Looked for files: {count}</source>
        <translation>Nach Dateien gesucht: {count}</translation>
    </message>
    <message>
        <source>Looked at the columns of a table</source>
        <translation>Die Spalten einer Tabelle angesehen</translation>
    </message>
    <message>
        <source>A query of a table did not work</source>
        <translation>Eine Abfrage einer Tabelle ging nicht</translation>
    </message>
    <message>
        <source>Queried the table in {title}</source>
        <translation>Die Tabelle in {title} abgefragt</translation>
    </message>
    <message>
        <source>Calculated {expression} = {value}</source>
        <translation>Berechnet: {expression} = {value}</translation>
    </message>
    <message>
        <source>Passages of {files} were read</source>
        <translation>Gelesen: Textstellen aus {files}</translation>
    </message>
    <message>
        <source>“{used}” instead of “{written}”</source>
        <translation>„{used}“ statt „{written}“</translation>
    </message>
    <message>
        <source>No file fits</source>
        <translation>Keine Datei passt</translation>
    </message>
    <message>
        <source>{files} were read, {fit:,} with a match</source>
        <translation>{files} wurden gelesen, {fit:,} mit Treffern</translation>
    </message>
    <message>
        <source>Searched only in {names}.</source>
        <translation>Nur in {names} gesucht.</translation>
    </message>
    <message>
        <source>Understood as “{asked}”.</source>
        <translation>Verstanden als „{asked}“.</translation>
    </message>
    <message>
        <source>Searched for {repairs}.</source>
        <translation>Gesucht wurde {repairs}.</translation>
    </message>
    <message>
        <source>{count:,} others</source>
        <translation>{count:,} weitere</translation>
    </message>
    <message>
        <source>{first} and {last}</source>
        <translation>{first} und {last}</translation>
    </message>
    <message>
        <source>Chat without documents</source>
        <translation>Chat ohne Dokumente</translation>
    </message>
    <message>
        <source>Find in the chat</source>
        <translation>Im Chat suchen</translation>
    </message>
    <message>
        <source>Next place found</source>
        <translation>Nächste Fundstelle</translation>
    </message>
    <message>
        <source>Place found before</source>
        <translation>Vorige Fundstelle</translation>
    </message>
    <message>
        <source>No assistant</source>
        <translation>Kein Assistent</translation>
    </message>
    <message>
        <source>Assistant: {one_line}. Press to change</source>
        <translation>Assistent: {one_line}. Zum Ändern drücken</translation>
    </message>
    <message>
        <source>Assistant: {one_line}</source>
        <translation>Assistent: {one_line}</translation>
    </message>
    <message>
        <source>New assistant…</source>
        <translation>Neuer Assistent…</translation>
    </message>
    <message>
        <source>Manage assistants…</source>
        <translation>Assistenten verwalten…</translation>
    </message>
    <message>
        <source>A chat can have at most {MAX_FILES} attachments.</source>
        <translation>Ein Chat kann höchstens {MAX_FILES} Anhänge haben.</translation>
    </message>
    <message>
        <source>Add a folder to the library instead.</source>
        <translation>Fügen Sie stattdessen der Bibliothek einen Ordner hinzu.</translation>
    </message>
    <message>
        <source>{left:,} more</source>
        <translation>{left:,} weitere</translation>
    </message>
    <message>
        <source>Pasted image {number}.png</source>
        <translation>Eingefügtes Bild {number}.png</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message>
        <source>Attached: {name}, {state_text}</source>
        <translation>Angehängt: {name}, {state_text}</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Wird gelesen…</translation>
    </message>
    <message>
        <source>Answers can be wrong. Press a number to read the source.</source>
        <translation>Antworten können falsch sein. Drücken Sie auf eine Zahl, um die Quelle zu lesen.</translation>
    </message>
    <message>
        <source>A folder or file…</source>
        <translation>Ein Ordner oder eine Datei…</translation>
    </message>
    <message>
        <source>Editing an earlier question. It will be asked in a copy of this chat.</source>
        <translation>Eine frühere Frage wird bearbeitet. Sie wird in einer Kopie dieses Chats gestellt.</translation>
    </message>
    <message>
        <source>Will be sent when the files are ready</source>
        <translation>Wird gesendet, sobald die Dateien bereit sind</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Stop (Esc)</source>
        <translation>Stoppen (Esc)</translation>
    </message>
    <message>
        <source>Send (Enter); Shift+Enter begins a new line</source>
        <translation>Senden (Eingabe); Umschalt+Eingabe beginnt eine neue Zeile</translation>
    </message>
    <message>
        <source>Attach files or images</source>
        <translation>Dateien oder Bilder anhängen</translation>
    </message>
    <message>
        <source>One a line, passed on as they are: there is no shell. {name:text}, {name:number}, {name:file} and {name:folder} are slots, which your sentence fills.</source>
        <translation>Eines je Zeile, weitergegeben, wie sie sind: Es gibt keine Shell. {name:text}, {name:number}, {name:file} und {name:folder} sind Lücken, die Ihr Satz füllt.</translation>
    </message>
    <message>
        <source>What you say to have it run, one a line, with {name} for each slot. Without any: “run”, the name, then the values.</source>
        <translation>Was Sie sagen, um es auszuführen, ein Satz je Zeile, mit {name} für jede Lücke. Ohne Satz: „run“, der Name, dann die Werte.</translation>
    </message>
    <message>
        <source>It works there, and is given files and folders from there only. Empty: one of its own.</source>
        <translation>Es arbeitet dort und erhält nur Dateien und Ordner von dort. Leer: ein eigener Ordner.</translation>
    </message>
    <message>
        <source>It runs as you, and may do whatever you may. Register only what you would start yourself.</source>
        <translation>Es läuft unter Ihrem Namen und darf alles, was Sie dürfen. Tragen Sie nur ein, was Sie selbst starten würden.</translation>
    </message>
    <message>
        <source>Register a program</source>
        <translation>Programm eintragen</translation>
    </message>
    <message>
        <source>Arguments</source>
        <translation>Argumente</translation>
    </message>
    <message>
        <source>Sentences</source>
        <translation>Sätze</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>Ordner wählen…</translation>
    </message>
    <message>
        <source> seconds</source>
        <translation> Sekunden</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Folder of the program</source>
        <translation>Ordner des Programms</translation>
    </message>
    <message>
        <source>All documents</source>
        <translation>Alle Dokumente</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>Link</translation>
    </message>
    <message>
        <source>Without documents</source>
        <translation>Ohne Dokumente</translation>
    </message>
    <message>
        <source>About: {names}</source>
        <translation>Über: {names}</translation>
    </message>
    <message>
        <source>{names} and {more:,} more</source>
        <translation>{names} und {more:,} weitere</translation>
    </message>
    <message>
        <source>The assistant&apos;s collections</source>
        <translation>Die Sammlungen des Assistenten</translation>
    </message>
    <message>
        <source>Documents</source>
        <translation>Dokumente</translation>
    </message>
    <message>
        <source>Open it in an image editor, save it as PNG or JPEG, and attach that file.</source>
        <translation>Öffnen Sie es in einer Bildbearbeitung, speichern Sie es als PNG oder JPEG und hängen Sie diese Datei an.</translation>
    </message>
    <message>
        <source>The file can&apos;t be opened.</source>
        <translation>Die Datei kann nicht geöffnet werden.</translation>
    </message>
    <message>
        <source>There is no file at {path}.</source>
        <translation>Unter {path} gibt es keine Datei.</translation>
    </message>
    <message>
        <source>This file is not an image.</source>
        <translation>Diese Datei ist kein Bild.</translation>
    </message>
    <message>
        <source>The image is too large.</source>
        <translation>Das Bild ist zu groß.</translation>
    </message>
    <message>
        <source>The limit is 100 megapixels. Make it smaller. {HINT}</source>
        <translation>Die Obergrenze liegt bei 100 Megapixeln. Verkleinern Sie das Bild. {HINT}</translation>
    </message>
    <message>
        <source>The image is damaged.</source>
        <translation>Das Bild ist beschädigt.</translation>
    </message>
    <message>
        <source>Excerpts</source>
        <translation>Auszüge</translation>
    </message>
    <message>
        <source>Excerpts only in this chat</source>
        <translation>Nur Auszüge in diesem Chat</translation>
    </message>
    <message>
        <source>Excerpts only, no model</source>
        <translation>Nur Auszüge, kein Modell</translation>
    </message>
    <message>
        <source>Model: {model} at {label}</source>
        <translation>Modell: {model} bei {label}</translation>
    </message>
    <message>
        <source>Set by the assistant</source>
        <translation>Vom Assistenten festgelegt</translation>
    </message>
    <message>
        <source>Press to change</source>
        <translation>Zum Ändern drücken</translation>
    </message>
    <message>
        <source>Compare models…</source>
        <translation>Modelle vergleichen…</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen…</translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation>Assistent</translation>
    </message>
    <message>
        <source>{kind} in {where}</source>
        <translation>{kind} in {where}</translation>
    </message>
    <message>
        <source>Files, folders, collections and assistants</source>
        <translation>Dateien, Ordner, Sammlungen und Assistenten</translation>
    </message>
    <message>
        <source>the shared library</source>
        <translation>der gemeinsamen Bibliothek</translation>
    </message>
    <message>
        <source>Ask about your documents…</source>
        <translation>Frage zu Ihren Dokumenten…</translation>
    </message>
    <message>
        <source>Ask the model, without your documents…</source>
        <translation>Frage an das Modell, ohne Ihre Dokumente…</translation>
    </message>
    <message>
        <source>Ask about {one_line}…</source>
        <translation>Frage zu {one_line}…</translation>
    </message>
    <message>
        <source>Ask about all documents instead</source>
        <translation>Stattdessen zu allen Dokumenten fragen</translation>
    </message>
    <message>
        <source>What the question is about</source>
        <translation>Worum es in der Frage geht</translation>
    </message>
    <message>
        <source>Don’t ask about {one_line}</source>
        <translation>{one_line} aus der Frage nehmen</translation>
    </message>
    <message>
        <source>{count:,} more</source>
        <translation>{count:,} weitere</translation>
    </message>
    <message>
        <source>Don’t ask about {words}</source>
        <translation>{words} aus der Frage nehmen</translation>
    </message>
    <message>
        <source>Remove {one_line}</source>
        <translation>{one_line} entfernen</translation>
    </message>
    <message>
        <source>And {more:,} more.</source>
        <translation>Und {more:,} weitere.</translation>
    </message>
    <message>
        <source>Open the library</source>
        <translation>Bibliothek öffnen</translation>
    </message>
    <message>
        <source>Leave it out</source>
        <translation>Weglassen</translation>
    </message>
    <message>
        <source>Leave them out</source>
        <translation>Weglassen</translation>
    </message>
    <message>
        <source>Manage prompts…</source>
        <translation>Vorlagen verwalten…</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>Vorlagen</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Passages</source>
        <translation>Textstellen</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Wird geladen…</translation>
    </message>
    <message>
        <source>Previous passage</source>
        <translation>Vorherige Textstelle</translation>
    </message>
    <message>
        <source>Next passage</source>
        <translation>Nächste Textstelle</translation>
    </message>
    <message>
        <source>Copy passage</source>
        <translation>Textstelle kopieren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close the details</source>
        <translation>Einzelheiten schließen</translation>
    </message>
    <message>
        <source>This document is no longer in your library</source>
        <translation>Dieses Dokument ist nicht mehr in Ihrer Bibliothek</translation>
    </message>
    <message>
        <source>Details of {one_line}</source>
        <translation>Details zu {one_line}</translation>
    </message>
    <message>
        <source>{value:,} of {total:,}</source>
        <translation>{value:,} von {total:,}</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>Nicht gefunden</translation>
    </message>
    <message>
        <source>passage</source>
        <translation>Textstelle</translation>
    </message>
    <message>
        <source>passages</source>
        <translation>Textstellen</translation>
    </message>
    <message>
        <source>{name} can&apos;t be opened.</source>
        <translation>{name} kann nicht geöffnet werden.</translation>
    </message>
    <message>
        <source>{name} no longer exists.</source>
        <translation>{name} ist nicht mehr vorhanden.</translation>
    </message>
    <message>
        <source>It was moved or deleted, or its drive is disconnected: {path}</source>
        <translation>Die Datei wurde verschoben oder gelöscht, oder ihr Laufwerk ist nicht verbunden: {path}</translation>
    </message>
    <message>
        <source>No program on this computer opens {one_line}.</source>
        <translation>Kein Programm auf diesem Computer öffnet {one_line}.</translation>
    </message>
    <message>
        <source>It is here: {one_line}</source>
        <translation>Die Datei liegt hier: {one_line}</translation>
    </message>
    <message>
        <source>Open link</source>
        <translation>Link öffnen</translation>
    </message>
    <message>
        <source>Open {host}?

The full address is:
{shown}</source>
        <translation>{host} öffnen?

Die vollständige Adresse lautet:
{shown}</translation>
    </message>
    <message>
        <source>Passage</source>
        <translation>Textstelle</translation>
    </message>
    <message>
        <source>Not in your library</source>
        <translation>Nicht in Ihrer Bibliothek</translation>
    </message>
    <message>
        <source>From the shared library</source>
        <translation>Aus der gemeinsamen Bibliothek</translation>
    </message>
    <message>
        <source>Searching your documents…</source>
        <translation>Ihre Dokumente werden durchsucht…</translation>
    </message>
    <message>
        <source>This answer has no sources.</source>
        <translation>Diese Antwort hat keine Quellen.</translation>
    </message>
    <message>
        <source>Relevance: {score:.2f}</source>
        <translation>Relevanz: {score:.2f}</translation>
    </message>
    <message>
        <source>Show more</source>
        <translation>Mehr anzeigen</translation>
    </message>
    <message>
        <source>Read source {n}</source>
        <translation>Quelle {n} lesen</translation>
    </message>
    <message>
        <source>Open source {n} in another program</source>
        <translation>Quelle {n} in einem anderen Programm öffnen</translation>
    </message>
    <message>
        <source>Copy source {n}</source>
        <translation>Quelle {n} kopieren</translation>
    </message>
    <message>
        <source>Cited · {count}</source>
        <translation>Zitiert · {count}</translation>
    </message>
    <message>
        <source>Also found · {count}</source>
        <translation>Auch gefunden · {count}</translation>
    </message>
    <message>
        <source>Nearest, but probably not about it</source>
        <translation>Am nächsten, aber wohl nicht dazu</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Show less</source>
        <translation>Weniger anzeigen</translation>
    </message>
    <message>
        <source>Sources</source>
        <translation>Quellen</translation>
    </message>
    <message>
        <source>Ask about these files only</source>
        <translation>Nur zu diesen Dateien fragen</translation>
    </message>
    <message>
        <source>Close sources</source>
        <translation>Quellen schließen</translation>
    </message>
    <message>
        <source>Nearest passages</source>
        <translation>Nächstliegende Textstellen</translation>
    </message>
    <message>
        <source>All questions</source>
        <translation>Alle Fragen</translation>
    </message>
    <message>
        <source>Answered differently</source>
        <translation>Unterschiedlich beantwortet</translation>
    </message>
    <message>
        <source>Worse than in the first run</source>
        <translation>Schlechter als im ersten Lauf</translation>
    </message>
    <message>
        <source>With unsupported sentences</source>
        <translation>Mit unbelegten Sätzen</translation>
    </message>
    <message>
        <source>Without sources, or not found</source>
        <translation>Ohne Quellen oder nicht gefunden</translation>
    </message>
    <message>
        <source>source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>sources</source>
        <translation>Quellen</translation>
    </message>
    <message>
        <source>Also in {join}{value}</source>
        <translation>Auch in {join}{value}</translation>
    </message>
    <message>
        <source> and {more} more</source>
        <translation> und {more} weiteren</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>Previous 7 days</source>
        <translation>Letzte 7 Tage</translation>
    </message>
    <message>
        <source>Previous 30 days</source>
        <translation>Letzte 30 Tage</translation>
    </message>
    <message>
        <source>d MMM</source>
        <translation>d. MMM</translation>
    </message>
    <message>
        <source>d MMM yyyy</source>
        <translation>d. MMM yyyy</translation>
    </message>
    <message>
        <source>Everywhere</source>
        <translation>Überall</translation>
    </message>
    <message>
        <source> or </source>
        <translation> oder </translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Watched</source>
        <translation>Überwacht</translation>
    </message>
    <message>
        <source>Checked regularly</source>
        <translation>Regelmäßig geprüft</translation>
    </message>
    <message>
        <source>Offline</source>
        <translation>Offline</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>wartet</translation>
    </message>
    <message>
        <source>reading</source>
        <translation>wird gelesen</translation>
    </message>
    <message>
        <source>searchable by words</source>
        <translation>nach Wörtern durchsuchbar</translation>
    </message>
    <message>
        <source>searchable</source>
        <translation>durchsuchbar</translation>
    </message>
    <message>
        <source>skipped</source>
        <translation>übersprungen</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>offline</source>
        <translation>nicht erreichbar</translation>
    </message>
    <message>
        <source>in progress</source>
        <translation>in Arbeit</translation>
    </message>
    <message>
        <source>excluded</source>
        <translation>ausgeschlossen</translation>
    </message>
    <message>
        <source>added</source>
        <translation>hinzugefügt</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>geändert</translation>
    </message>
    <message>
        <source>moved</source>
        <translation>verschoben</translation>
    </message>
    <message>
        <source>removed</source>
        <translation>entfernt</translation>
    </message>
    <message>
        <source>not read</source>
        <translation>nicht gelesen</translation>
    </message>
    <message>
        <source>state</source>
        <translation>Status</translation>
    </message>
    <message>
        <source>type</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>collection</source>
        <translation>Sammlung</translation>
    </message>
    <message>
        <source>tag</source>
        <translation>Schlagwort</translation>
    </message>
    <message>
        <source>date</source>
        <translation>Datum</translation>
    </message>
    <message>
        <source>over the network</source>
        <translation>über das Netz</translation>
    </message>
    <message>
        <source>within this computer</source>
        <translation>innerhalb dieses Computers</translation>
    </message>
    <message>
        <source>never made</source>
        <translation>nie hergestellt</translation>
    </message>
    <message>
        <source>on</source>
        <translation>ein</translation>
    </message>
    <message>
        <source>only when you ask</source>
        <translation>nur auf Wunsch</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>Your answers</source>
        <translation>Ihre Antworten</translation>
    </message>
    <message>
        <source>Demo</source>
        <translation>Demo</translation>
    </message>
    <message>
        <source>{name} (shared)</source>
        <translation>{name} (gemeinsam)</translation>
    </message>
    <message>
        <source>No files yet</source>
        <translation>Noch keine Dateien</translation>
    </message>
    <message>
        <source>by words only so far</source>
        <translation>bisher nur nach Wörtern</translation>
    </message>
    <message>
        <source>being read</source>
        <translation>in Arbeit</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlend</translation>
    </message>
    <message>
        <source>No changes</source>
        <translation>Keine Änderungen</translation>
    </message>
    <message>
        <source>written by the app</source>
        <translation>von der App geschrieben</translation>
    </message>
    <message>
        <source>nothing is sent anywhere</source>
        <translation>es wird nichts gesendet</translation>
    </message>
    <message>
        <source>about {count:,} tokens</source>
        <translation>etwa {count:,} Token</translation>
    </message>
    <message>
        <source>minute</source>
        <translation>Minute</translation>
    </message>
    <message>
        <source>minutes</source>
        <translation>Minuten</translation>
    </message>
    <message>
        <source>about {time}</source>
        <translation>etwa {time}</translation>
    </message>
    <message>
        <source>no price is set for the endpoint</source>
        <translation>für den Endpunkt ist kein Preis eingetragen</translation>
    </message>
    <message>
        <source>about {cost:,.4g} in the currency of your prices</source>
        <translation>etwa {cost:,.4g} in der Währung Ihrer Preise</translation>
    </message>
    <message>
        <source>more than the {sum:,.4g} that you set</source>
        <translation>mehr als die {sum:,.4g}, die Sie festgelegt haben</translation>
    </message>
    <message>
        <source>by what earlier answers took</source>
        <translation>nach dem, was frühere Antworten brauchten</translation>
    </message>
    <message>
        <source>a guess before the first answers are counted</source>
        <translation>geschätzt, bevor die ersten Antworten gezählt sind</translation>
    </message>
    <message>
        <source>in part by what earlier answers took</source>
        <translation>zum Teil nach dem, was frühere Antworten brauchten</translation>
    </message>
    <message>
        <source>This may cost more than you set for its endpoint: {said}</source>
        <translation>Das kostet vielleicht mehr, als Sie für den Endpunkt festgelegt haben: {said}</translation>
    </message>
    <message>
        <source>Run it yourself (in a terminal with --yes), or raise the sum in the settings of the endpoint.</source>
        <translation>Starten Sie es selbst (im Terminal mit --yes), oder erhöhen Sie den Betrag in den Einstellungen des Endpunkts.</translation>
    </message>
    <message>
        <source>byte</source>
        <translation>Byte</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>Byte</translation>
    </message>
    <message>
        <source>{value:.1f} TB</source>
        <translation>{value:.1f} TB</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>gerade eben</translation>
    </message>
    <message>
        <source>{value} min ago</source>
        <translation>vor {value} Min.</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Wann</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>Änderung</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>There is no command “{action}”.</source>
        <translation>Es gibt keinen Befehl „{action}“.</translation>
    </message>
    <message>
        <source>No registered program is run by this sentence.</source>
        <translation>Kein eingetragenes Programm gehört zu diesem Satz.</translation>
    </message>
    <message>
        <source>Settings, under Commands, lists the sentences of your programs.</source>
        <translation>Die Sätze Ihrer Programme stehen in den Einstellungen unter „Befehle“.</translation>
    </message>
    <message>
        <source>This sentence means several programs: {names}.</source>
        <translation>Dieser Satz meint mehrere Programme: {names}.</translation>
    </message>
    <message>
        <source>There is no answer to save yet.</source>
        <translation>Es gibt noch keine Antwort zum Speichern.</translation>
    </message>
    <message>
        <source>Ask something first.</source>
        <translation>Fragen Sie zuerst etwas.</translation>
    </message>
    <message>
        <source>New file</source>
        <translation>Neue Datei</translation>
    </message>
    <message>
        <source>Added to the library</source>
        <translation>Der Bibliothek hinzugefügt</translation>
    </message>
    <message>
        <source>Content</source>
        <translation>Inhalt</translation>
    </message>
    <message>
        <source>Save the note “{topic}”</source>
        <translation>Die Notiz „{topic}“ speichern</translation>
    </message>
    <message>
        <source>Which folder?</source>
        <translation>Welchen Ordner?</translation>
    </message>
    <message>
        <source>Write its path, such as: add the folder ~/Documents</source>
        <translation>Schreiben Sie den Pfad, etwa: add the folder ~/Dokumente</translation>
    </message>
    <message>
        <source>Add the folder “{name}” to the library</source>
        <translation>Den Ordner „{name}“ der Bibliothek hinzufügen</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Arguments, one a line</source>
        <translation>Argumente, eines je Zeile</translation>
    </message>
    <message>
        <source>Works in</source>
        <translation>Arbeitet in</translation>
    </message>
    <message>
        <source>Ends after</source>
        <translation>Endet nach</translation>
    </message>
    <message>
        <source>{seconds} seconds at most</source>
        <translation>höchstens {seconds} Sekunden</translation>
    </message>
    <message>
        <source>Run “{name}”</source>
        <translation>„{name}“ ausführen</translation>
    </message>
    <message>
        <source>Say: {sentence}</source>
        <translation>Sagen Sie: {sentence}</translation>
    </message>
    <message>
        <source>{value} is not in the folder of this program.</source>
        <translation>{value} ist nicht im Ordner dieses Programms.</translation>
    </message>
    <message>
        <source>It may be given what lies in {folder}.</source>
        <translation>Es darf erhalten, was in {folder} liegt.</translation>
    </message>
    <message>
        <source>{path} does not exist.</source>
        <translation>{path} gibt es nicht.</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Since yesterday</source>
        <translation>Seit gestern</translation>
    </message>
    <message>
        <source>since yesterday</source>
        <translation>seit gestern</translation>
    </message>
    <message>
        <source>today</source>
        <translation>heute</translation>
    </message>
    <message>
        <source>in the last 7 days</source>
        <translation>in den letzten 7 Tagen</translation>
    </message>
    <message>
        <source>Wed 23:59</source>
        <translation>Mi. 23:59</translation>
    </message>
    <message>
        <source>Not read: it is protected.</source>
        <translation>Nicht gelesen: Die Datei ist geschützt.</translation>
    </message>
    <message>
        <source>Changed files</source>
        <translation>Geänderte Dateien</translation>
    </message>
    <message>
        <source>Period</source>
        <translation>Zeitraum</translation>
    </message>
    <message>
        <source>Read the changed file</source>
        <translation>Geänderte Datei lesen</translation>
    </message>
    <message>
        <source>No file changed</source>
        <translation>Keine Änderung an Dateien</translation>
    </message>
    <message>
        <source>No such change</source>
        <translation>Keine solche Änderung</translation>
    </message>
    <message>
        <source>All changes</source>
        <translation>Alle Änderungen</translation>
    </message>
    <message>
        <source>Removed collection</source>
        <translation>Entfernte Sammlung</translation>
    </message>
    <message>
        <source>Zotero library</source>
        <translation>Zotero-Bibliothek</translation>
    </message>
    <message>
        <source>Collections</source>
        <translation>Sammlungen</translation>
    </message>
    <message>
        <source>Zotero must be running, and let other applications on this computer communicate with it (its settings, under Advanced).</source>
        <translation>Zotero muss laufen und anderen Programmen auf diesem Computer den Austausch erlauben (in seinen Einstellungen unter „Erweitert“).</translation>
    </message>
    <message>
        <source>My documents</source>
        <translation>Meine Dokumente</translation>
    </message>
    <message>
        <source>Collection</source>
        <translation>Sammlung</translation>
    </message>
    <message>
        <source>Compare chunks</source>
        <translation>Textstellen vergleichen</translation>
    </message>
    <message>
        <source>Use these chunks</source>
        <translation>Diese Textstellen verwenden</translation>
    </message>
    <message>
        <source>{count:,} chunks</source>
        <translation>{count:,} Textstellen</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>in Gebrauch</translation>
    </message>
    <message>
        <source>“{name}” is used. The old chunks answer until the new ones are there.</source>
        <translation>„{name}“ wird verwendet. Die alten Textstellen antworten, bis die neuen da sind.</translation>
    </message>
    <message>
        <source>The chunks are as they were.</source>
        <translation>Die Textstellen sind wie vorher.</translation>
    </message>
    <message>
        <source>At headings, paragraphs and sentences</source>
        <translation>An Überschriften, Absätzen und Sätzen</translation>
    </message>
    <message>
        <source>Into passages of equal length</source>
        <translation>In gleich lange Textstellen</translation>
    </message>
    <message>
        <source>Into passages of up to 1,000 characters</source>
        <translation>In Textstellen mit bis zu 1.000 Zeichen</translation>
    </message>
    <message>
        <source>New collection</source>
        <translation>Neue Sammlung</translation>
    </message>
    <message>
        <source>Name of the collection</source>
        <translation>Name der Sammlung</translation>
    </message>
    <message>
        <source> tokens</source>
        <translation> Token</translation>
    </message>
    <message>
        <source>Overlap between passages</source>
        <translation>Überlappung der Textstellen</translation>
    </message>
    <message>
        <source>Embedding model</source>
        <translation>Einbettungsmodell</translation>
    </message>
    <message>
        <source>Same as in Settings</source>
        <translation>Wie in den Einstellungen</translation>
    </message>
    <message>
        <source>Hosts of the local network</source>
        <translation>Rechner im lokalen Netz</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>Entfernen…</translation>
    </message>
    <message>
        <source>Folders, files and links in it</source>
        <translation>Ordner, Dateien und Links darin</translation>
    </message>
    <message>
        <source>Split documents</source>
        <translation>Dokumente aufteilen</translation>
    </message>
    <message>
        <source>Documents are split again in the background, without reading the files again. Until a document is ready, its old passages are used.</source>
        <translation>Dokumente werden im Hintergrund neu aufgeteilt, ohne dass die Dateien erneut gelesen werden. Bis ein Dokument fertig ist, werden seine alten Textstellen verwendet.</translation>
    </message>
    <message>
        <source>Documents are embedded again in the background; until all are done, search uses the old model.</source>
        <translation>Die Dokumente werden im Hintergrund neu eingebettet; bis alle fertig sind, nutzt die Suche das alte Modell.</translation>
    </message>
    <message>
        <source>One per line. Links may name them besides public addresses.</source>
        <translation>Einer je Zeile. Links dürfen außer öffentlichen Adressen auch diese nennen.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>Remove this collection with its folders and links? Your files stay where they are.</source>
        <translation>Diese Sammlung mit ihren Ordnern und Links entfernen? Ihre Dateien bleiben, wo sie sind.</translation>
    </message>
    <message>
        <source>Address of the site</source>
        <translation>Adresse der Website</translation>
    </message>
    <message>
        <source>Add folder</source>
        <translation>Ordner hinzufügen</translation>
    </message>
    <message>
        <source>Options for {name}</source>
        <translation>Optionen für {name}</translation>
    </message>
    <message>
        <source>unchanged</source>
        <translation>unverändert</translation>
    </message>
    <message>
        <source>See what is there</source>
        <translation>Nachsehen, was da ist</translation>
    </message>
    <message>
        <source>Cloud folder (WebDAV)</source>
        <translation>Cloud-Ordner (WebDAV)</translation>
    </message>
    <message>
        <source>Access token</source>
        <translation>Zugriffstoken</translation>
    </message>
    <message>
        <source>For the cloud, the user is your e-mail address, and the token is made in your account, under Security. For a server of your own, leave the user empty.</source>
        <translation>In der Cloud ist der Benutzer Ihre E-Mail-Adresse, und das Token entsteht in Ihrem Konto unter „Sicherheit“. Für einen eigenen Server bleibt der Benutzer leer.</translation>
    </message>
    <message>
        <source>GitHub issues</source>
        <translation>GitHub-Issues</translation>
    </message>
    <message>
        <source>Repositories</source>
        <translation>Repositorys</translation>
    </message>
    <message>
        <source>The address of a repository, or of its owner for all. Private ones need a token.</source>
        <translation>Die Adresse eines Repositorys, oder für alle die des Besitzers. Private brauchen ein Token.</translation>
    </message>
    <message>
        <source>GitLab issues</source>
        <translation>GitLab-Issues</translation>
    </message>
    <message>
        <source>Projects</source>
        <translation>Projekte</translation>
    </message>
    <message>
        <source>The address of a project or a group. Private ones need a token (read_api).</source>
        <translation>Die Adresse eines Projekts oder einer Gruppe. Private brauchen ein Token (read_api).</translation>
    </message>
    <message>
        <source>Jira issues</source>
        <translation>Jira-Vorgänge</translation>
    </message>
    <message>
        <source>Mailbox (IMAP)</source>
        <translation>Postfach (IMAP)</translation>
    </message>
    <message>
        <source>User</source>
        <translation>Benutzer</translation>
    </message>
    <message>
        <source>For Gmail write imap.gmail.com. Gmail, iCloud, Yahoo and Fastmail make app passwords in the settings of the account, under security. Nothing is marked as read.</source>
        <translation>Für Gmail schreiben Sie imap.gmail.com. Gmail, iCloud, Yahoo und Fastmail machen App-Passwörter in den Einstellungen des Kontos unter „Sicherheit“. Nichts wird als gelesen markiert.</translation>
    </message>
    <message>
        <source>Confluence pages</source>
        <translation>Confluence-Seiten</translation>
    </message>
    <message>
        <source>Spaces</source>
        <translation>Bereiche</translation>
    </message>
    <message>
        <source>App password</source>
        <translation>App-Passwort</translation>
    </message>
    <message>
        <source>Nextcloud shows the address in its files, under Settings, and makes app passwords in its settings, under Security.</source>
        <translation>Nextcloud zeigt die Adresse in seinen Dateien unter „Einstellungen“ und macht App-Passwörter in seinen Einstellungen unter „Sicherheit“.</translation>
    </message>
    <message>
        <source>Add from: {kind}</source>
        <translation>Hinzufügen aus: {kind}</translation>
    </message>
    <message>
        <source>Only since</source>
        <translation>Erst seit</translation>
    </message>
    <message>
        <source>{secret}: kept in the keyring of this computer.</source>
        <translation>{secret}: liegt im Schlüsselbund dieses Computers.</translation>
    </message>
    <message>
        <source>Nothing checked yet.</source>
        <translation>Noch wurde nichts nachgesehen.</translation>
    </message>
    <message>
        <source>Reading: {files} so far</source>
        <translation>Wird gelesen: bisher {files}</translation>
    </message>
    <message>
        <source>Paused after {files}</source>
        <translation>Angehalten nach {files}</translation>
    </message>
    <message>
        <source>Stopped after {files}</source>
        <translation>Beendet nach {files}</translation>
    </message>
    <message>
        <source>{files} there, {moment}</source>
        <translation>{files} vorhanden, {moment}</translation>
    </message>
    <message>
        <source>Add {name}</source>
        <translation>{name} hinzufügen</translation>
    </message>
    <message>
        <source>Encoding of texts that do not name theirs</source>
        <translation>Kodierung von Texten, die ihre nicht nennen</translation>
    </message>
    <message>
        <source>For a folder that mirrors a site: its sources link there.</source>
        <translation>Für einen Ordner, der eine Website spiegelt: Seine Quellen verlinken dorthin.</translation>
    </message>
    <message>
        <source>Manually</source>
        <translation>Von Hand</translation>
    </message>
    <message>
        <source>Every hour</source>
        <translation>Stündlich</translation>
    </message>
    <message>
        <source>Every day</source>
        <translation>Täglich</translation>
    </message>
    <message>
        <source>Every week</source>
        <translation>Wöchentlich</translation>
    </message>
    <message>
        <source>Add links</source>
        <translation>Links hinzufügen</translation>
    </message>
    <message>
        <source>Add anyway</source>
        <translation>Trotzdem hinzufügen</translation>
    </message>
    <message>
        <source>Add web links</source>
        <translation>Weblinks hinzufügen</translation>
    </message>
    <message>
        <source>Addresses</source>
        <translation>Adressen</translation>
    </message>
    <message>
        <source> pages</source>
        <translation> Seiten</translation>
    </message>
    <message>
        <source>Maximum number of pages</source>
        <translation>Höchstzahl der Seiten</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>Aktualisierung</translation>
    </message>
    <message>
        <source>One per line. A sitemap or feed adds all pages it lists. Pages are downloaded by this computer, from public addresses and from hosts of the local network that the collection allows.</source>
        <translation>Eine je Zeile. Eine Sitemap oder ein Feed fügt alle darin genannten Seiten hinzu. Dieser Computer lädt die Seiten von öffentlichen Adressen und von den Rechnern im lokalen Netz, die die Sammlung erlaubt.</translation>
    </message>
    <message>
        <source>Page limit</source>
        <translation>Maximale Seitenzahl</translation>
    </message>
    <message>
        <source>Every {hours} hours</source>
        <translation>Alle {hours} Stunden</translation>
    </message>
    <message>
        <source>This address</source>
        <translation>diese Adresse</translation>
    </message>
    <message>
        <source>{count} addresses</source>
        <translation>{count} Adressen</translation>
    </message>
    <message>
        <source>{count} can&apos;t be fetched now.
{lines}</source>
        <translation>Derzeit nicht abrufbar: {count}
{lines}</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>Wird geprüft…</translation>
    </message>
    <message>
        <source>Members</source>
        <translation>Inhalt der Sammlung</translation>
    </message>
    <message>
        <source> — in {get}</source>
        <translation> – in {get}</translation>
    </message>
    <message>
        <source>Each is in one collection. What you take out goes to “{value}”.</source>
        <translation>Jeder Eintrag gehört zu genau einer Sammlung. Was Sie herausnehmen, kommt in „{value}“.</translation>
    </message>
    <message>
        <source>Each is in one collection; this is the only one.</source>
        <translation>Jeder Eintrag gehört zu genau einer Sammlung; dies ist die einzige.</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>Ausgeschlossen</translation>
    </message>
    <message>
        <source>Excluded files</source>
        <translation>Ausgeschlossene Dateien</translation>
    </message>
    <message>
        <source>Counting files…</source>
        <translation>Dateien werden gezählt…</translation>
    </message>
    <message>
        <source>Nothing to index</source>
        <translation>Nichts zu indizieren</translation>
    </message>
    <message>
        <source>With these rules, no file in this folder would be searchable.</source>
        <translation>Mit diesen Regeln wäre keine Datei in diesem Ordner durchsuchbar.</translation>
    </message>
    <message>
        <source>{files} to index, {size_in_words}</source>
        <translation>{files} zu indizieren, {size_in_words}</translation>
    </message>
    <message>
        <source>{formats}. Searchable by words almost at once, by meaning later.</source>
        <translation>{formats}. Nach Wörtern fast sofort durchsuchbar, nach Bedeutung später.</translation>
    </message>
    <message>
        <source>Fetching takes about {minutes}.</source>
        <translation>Das Abrufen dauert etwa {minutes}.</translation>
    </message>
    <message>
        <source>other file</source>
        <translation>andere Datei</translation>
    </message>
    <message>
        <source>other files</source>
        <translation>andere Dateien</translation>
    </message>
    <message>
        <source>Skip files ignored by .gitignore</source>
        <translation>Von .gitignore ignorierte Dateien überspringen</translation>
    </message>
    <message>
        <source>Subfolders</source>
        <translation>Unterordner</translation>
    </message>
    <message>
        <source>Include hidden files and folders</source>
        <translation>Versteckte Dateien und Ordner einbeziehen</translation>
    </message>
    <message>
        <source>Patterns to exclude</source>
        <translation>Auszuschließende Muster</translation>
    </message>
    <message>
        <source>Maximum file size</source>
        <translation>Maximale Dateigröße</translation>
    </message>
    <message>
        <source>Exclude</source>
        <translation>Ausschließen</translation>
    </message>
    <message>
        <source>One pattern per line, as in a .gitignore file.</source>
        <translation>Ein Muster pro Zeile, wie in einer .gitignore-Datei.</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Status</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Indexed</source>
        <translation>Indiziert</translation>
    </message>
    <message>
        <source>Filters</source>
        <translation>Filter</translation>
    </message>
    <message>
        <source>Show or hide the filters beside the table</source>
        <translation>Filter neben der Tabelle ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Filter by name, folder, tag or reason</source>
        <translation>Nach Name, Ordner, Schlagwort oder Grund filtern</translation>
    </message>
    <message>
        <source>Filter files</source>
        <translation>Dateien filtern</translation>
    </message>
    <message>
        <source>Retry failed</source>
        <translation>Fehlgeschlagene erneut versuchen</translation>
    </message>
    <message>
        <source>Enter password…</source>
        <translation>Passwort eingeben…</translation>
    </message>
    <message>
        <source>Scans and pictures have no text until it is recognised: Settings › Documents says how.</source>
        <translation>Scans und Bilder haben erst Text, wenn er erkannt wird: Wie, steht unter Einstellungen › Dokumente.</translation>
    </message>
    <message>
        <source>Show them</source>
        <translation>Zeigen</translation>
    </message>
    <message>
        <source>{files} not read: {why}</source>
        <translation>{files} nicht gelesen: {why}</translation>
    </message>
    <message>
        <source>Open the selected encrypted file</source>
        <translation>Ausgewählte verschlüsselte Datei öffnen</translation>
    </message>
    <message>
        <source>No files match the filter. Clear it to see all.</source>
        <translation>Keine Datei entspricht dem Filter. Löschen Sie ihn, um alle zu sehen.</translation>
    </message>
    <message>
        <source>No files yet.</source>
        <translation>Noch keine Dateien.</translation>
    </message>
    <message>
        <source>Searchable by words</source>
        <translation>Nach Wörtern durchsuchbar</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Read the file</source>
        <translation>Datei lesen</translation>
    </message>
    <message>
        <source>Open in another program</source>
        <translation>In einem anderen Programm öffnen</translation>
    </message>
    <message>
        <source>Ask about the selected files</source>
        <translation>Zu den gewählten Dateien fragen</translation>
    </message>
    <message>
        <source>Tags of the selected files</source>
        <translation>Schlagwörter der gewählten Dateien</translation>
    </message>
    <message>
        <source>Exclude the selected files</source>
        <translation>Gewählte Dateien ausschließen</translation>
    </message>
    <message>
        <source>Read the selected files again</source>
        <translation>Ausgewählte Dateien wieder lesen</translation>
    </message>
    <message>
        <source>Show what can be done</source>
        <translation>Zeigen, was möglich ist</translation>
    </message>
    <message>
        <source>Read</source>
        <translation>Lesen</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>Im Ordner anzeigen</translation>
    </message>
    <message>
        <source>Summarise</source>
        <translation>Zusammenfassen</translation>
    </message>
    <message>
        <source>Forget password</source>
        <translation>Passwort vergessen</translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation>Pfad kopieren</translation>
    </message>
    <message>
        <source>Copy paths</source>
        <translation>Pfade kopieren</translation>
    </message>
    <message>
        <source>Copy reason</source>
        <translation>Grund kopieren</translation>
    </message>
    <message>
        <source>Ask about these {count:,} files</source>
        <translation>Zu diesen {count:,} Dateien fragen</translation>
    </message>
    <message>
        <source>Ask about this</source>
        <translation>Dazu fragen</translation>
    </message>
    <message>
        <source>Tags of {count:,} files…</source>
        <translation>Schlagwörter von {count:,} Dateien…</translation>
    </message>
    <message>
        <source>Tags…</source>
        <translation>Schlagwörter…</translation>
    </message>
    <message>
        <source>Read again: {count:,} files</source>
        <translation>Erneut lesen: {count:,} Dateien</translation>
    </message>
    <message>
        <source>Read again</source>
        <translation>Erneut lesen</translation>
    </message>
    <message>
        <source>Include again: {count:,} files</source>
        <translation>Wieder aufnehmen: {count:,} Dateien</translation>
    </message>
    <message>
        <source>Include again</source>
        <translation>Wieder einbeziehen</translation>
    </message>
    <message>
        <source>Exclude {count:,} files</source>
        <translation>{count:,} Dateien ausschließen</translation>
    </message>
    <message>
        <source>Remove the filter {full_text}</source>
        <translation>Filter {full_text} entfernen</translation>
    </message>
    <message>
        <source>Clear filters</source>
        <translation>Filter löschen</translation>
    </message>
    <message>
        <source>Not read</source>
        <translation>Nicht gelesen</translation>
    </message>
    <message>
        <source>Addresses that were not read</source>
        <translation>Nicht gelesene Adressen</translation>
    </message>
    <message>
        <source>request</source>
        <translation>Anfrage</translation>
    </message>
    <message>
        <source>requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>{waiting:,} addresses waiting</source>
        <translation>{waiting:,} Adressen warten</translation>
    </message>
    <message>
        <source>copy left out</source>
        <translation>ausgelassene Kopie</translation>
    </message>
    <message>
        <source>copies left out</source>
        <translation>ausgelassene Kopien</translation>
    </message>
    <message>
        <source>and {more:,} more</source>
        <translation>und {more:,} weitere</translation>
    </message>
    <message>
        <source>page</source>
        <translation>Seite</translation>
    </message>
    <message>
        <source>pages</source>
        <translation>Seiten</translation>
    </message>
    <message>
        <source>Reading: {pages} so far</source>
        <translation>Wird gelesen: bisher {pages}</translation>
    </message>
    <message>
        <source>Paused after {pages}</source>
        <translation>Angehalten nach {pages}</translation>
    </message>
    <message>
        <source>No server answered</source>
        <translation>Kein Server hat geantwortet</translation>
    </message>
    <message>
        <source>Stopped after {pages}</source>
        <translation>Abgebrochen nach {pages}</translation>
    </message>
    <message>
        <source>{pages} read, {moment}; a limit left others out</source>
        <translation>{pages} gelesen, {moment}; eine Grenze hat weitere ausgelassen</translation>
    </message>
    <message>
        <source>{pages} read, {moment}</source>
        <translation>{pages} gelesen, {moment}</translation>
    </message>
    <message>
        <source>Removed folder</source>
        <translation>Entfernter Ordner</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>Alle anzeigen</translation>
    </message>
    <message>
        <source>Show fewer</source>
        <translation>Weniger anzeigen</translation>
    </message>
    <message>
        <source>Show all {count:,}</source>
        <translation>Alle {count:,} anzeigen</translation>
    </message>
    <message>
        <source>{named} excluded.</source>
        <translation>{named} ausgeschlossen.</translation>
    </message>
    <message>
        <source>Answers no longer use it, and it isn&apos;t read until you include it again.</source>
        <translation>Antworten verwenden die Datei nicht mehr, und sie wird nicht gelesen, bis Sie sie wieder einbeziehen.</translation>
    </message>
    <message>
        <source>Answers no longer use them, and they aren&apos;t read until you include them again.</source>
        <translation>Antworten verwenden die Dateien nicht mehr, und sie werden nicht gelesen, bis Sie sie wieder einbeziehen.</translation>
    </message>
    <message>
        <source>Nothing was read again.</source>
        <translation>Nichts wurde erneut gelesen.</translation>
    </message>
    <message>
        <source>A rule leaves these files out.</source>
        <translation>Eine Regel schließt diese Dateien aus.</translation>
    </message>
    <message>
        <source>{read:,} of {files} could be read.</source>
        <translation>Gelesen: {read:,} von {files}.</translation>
    </message>
    <message>
        <source>The column Reason says what is wrong with the others.</source>
        <translation>Die Spalte „Grund“ sagt, was den anderen fehlt.</translation>
    </message>
    <message>
        <source>{count:,} files are read again.</source>
        <translation>{count:,} Dateien werden erneut gelesen.</translation>
    </message>
    <message>
        <source>Indexing is paused. They are read when it goes on.</source>
        <translation>Die Indizierung ist pausiert. Sie werden gelesen, wenn sie weitergeht.</translation>
    </message>
    <message>
        <source>1 file is read again.</source>
        <translation>1 Datei wird erneut gelesen.</translation>
    </message>
    <message>
        <source>“{cut_line}” is</source>
        <translation>„{cut_line}“ wurde</translation>
    </message>
    <message>
        <source>{count_of} are</source>
        <translation>{count_of} wurden</translation>
    </message>
    <message>
        <source>Waiting to try again</source>
        <translation>Wartet auf einen neuen Versuch</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <translation>Einen Ordner hinzufügen</translation>
    </message>
    <message>
        <source>Add demo documents</source>
        <translation>Beispieldokumente hinzufügen</translation>
    </message>
    <message>
        <source>Open settings</source>
        <translation>Einstellungen öffnen</translation>
    </message>
    <message>
        <source>calendars</source>
        <translation>Kalender</translation>
    </message>
    <message>
        <source>contacts</source>
        <translation>Kontakte</translation>
    </message>
    <message>
        <source>notebooks</source>
        <translation>Notebooks</translation>
    </message>
    <message>
        <source>plain text</source>
        <translation>reiner Text</translation>
    </message>
    <message>
        <source>source code</source>
        <translation>Quelltext</translation>
    </message>
    <message>
        <source>subtitles</source>
        <translation>Untertitel</translation>
    </message>
    <message>
        <source>web pages</source>
        <translation>Webseiten</translation>
    </message>
    <message>
        <source>{join} and {value}</source>
        <translation>{join} und {value}</translation>
    </message>
    <message>
        <source>Add a folder and start asking. You can search its files by words within seconds and by meaning soon after. They stay where they are, on this computer.</source>
        <translation>Fügen Sie einen Ordner hinzu und stellen Sie Ihre erste Frage. Nach wenigen Sekunden können Sie seine Dateien nach Wörtern durchsuchen, bald darauf auch nach Bedeutung. Sie bleiben, wo sie sind: auf diesem Computer.</translation>
    </message>
    <message>
        <source>The demo is a small sample library that you can remove.</source>
        <translation>Die Demo ist eine kleine Beispielbibliothek, die Sie wieder entfernen können.</translation>
    </message>
    <message>
        <source>Supported: {kinds_read}. You can also drop folders or files here.</source>
        <translation>Unterstützt: {kinds_read}. Sie können Ordner oder Dateien auch hierher ziehen.</translation>
    </message>
    <message>
        <source>Add from…</source>
        <translation>Hinzufügen aus …</translation>
    </message>
    <message>
        <source>{name} (documents that this program sends)</source>
        <translation>{name} (Dokumente, die dieses Programm sendet)</translation>
    </message>
    <message>
        <source>Delete all documents that “{name}” sent? They are kept here only, and come back when the program sends them again.</source>
        <translation>Alle Dokumente löschen, die „{name}“ gesendet hat? Sie liegen nur hier und kommen wieder, wenn das Programm sie erneut sendet.</translation>
    </message>
    <message>
        <source>Source {name}</source>
        <translation>Quelle {name}</translation>
    </message>
    <message>
        <source>Show {unread:,} not read</source>
        <translation>{unread:,} nicht gelesene zeigen</translation>
    </message>
    <message>
        <source>Show files</source>
        <translation>Dateien anzeigen</translation>
    </message>
    <message>
        <source>Show files in {name}</source>
        <translation>Dateien in {name} anzeigen</translation>
    </message>
    <message>
        <source>Ask about {name}</source>
        <translation>Zu {name} fragen</translation>
    </message>
    <message>
        <source>Summarise {name}</source>
        <translation>{name} zusammenfassen</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Open {name}</source>
        <translation>{name} öffnen</translation>
    </message>
    <message>
        <source>Locate…</source>
        <translation>Ort angeben…</translation>
    </message>
    <message>
        <source>Say where {name} is now</source>
        <translation>Angeben, wo {name} jetzt ist</translation>
    </message>
    <message>
        <source>Check now</source>
        <translation>Jetzt prüfen</translation>
    </message>
    <message>
        <source>Check {name} for changes</source>
        <translation>{name} auf Änderungen prüfen</translation>
    </message>
    <message>
        <source>Options…</source>
        <translation>Optionen…</translation>
    </message>
    <message>
        <source>Remove {name} from the library</source>
        <translation>{name} aus der Bibliothek entfernen</translation>
    </message>
    <message>
        <source>Remove “{name}” from the library? Its files stay where they are, but adding it again means indexing it again.</source>
        <translation>„{name}“ aus der Bibliothek entfernen? Die Dateien bleiben, wo sie sind, müssen aber bei erneutem Hinzufügen neu indiziert werden.</translation>
    </message>
    <message>
        <source>Google Drive</source>
        <translation>Google Drive</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Client ID</source>
        <translation>Client-ID</translation>
    </message>
    <message>
        <source>Client secret</source>
        <translation>Client-Schlüssel</translation>
    </message>
    <message>
        <source>Both are made once in Google&apos;s console, for a desktop app. Then a page of Google opens in your browser, where you let this app read your Drive.</source>
        <translation>Beide entstehen einmal in der Konsole von Google, für eine Desktop-App. Dann öffnet sich im Browser eine Seite von Google, auf der Sie dieser App erlauben, Ihr Drive zu lesen.</translation>
    </message>
    <message>
        <source>Changed today</source>
        <translation>Heute geändert</translation>
    </message>
    <message>
        <source>{words}, and {inside:,} inside them</source>
        <translation>{words}, dazu {inside:,} darin enthaltene</translation>
    </message>
    <message>
        <source>Is the other model better? Write the questions that you would ask, have each set-up answer them, and see which answers are better, and whether that is more than chance.</source>
        <translation>Ist das andere Modell besser? Schreiben Sie die Fragen auf, die Sie stellen würden, lassen Sie sie mit jedem Aufbau beantworten, und sehen Sie, welche Antworten besser sind und ob das mehr als Zufall ist.</translation>
    </message>
    <message>
        <source>New set</source>
        <translation>Neuer Fragensatz</translation>
    </message>
    <message>
        <source>Set of questions</source>
        <translation>Fragensatz</translation>
    </message>
    <message>
        <source>Add questions</source>
        <translation>Fragen hinzufügen</translation>
    </message>
    <message>
        <source>Ask…</source>
        <translation>Fragen…</translation>
    </message>
    <message>
        <source>Judge blind…</source>
        <translation>Blind beurteilen…</translation>
    </message>
    <message>
        <source>Let the model judge</source>
        <translation>Das Modell urteilen lassen</translation>
    </message>
    <message>
        <source>Report…</source>
        <translation>Bericht…</translation>
    </message>
    <message>
        <source>Side by side…</source>
        <translation>Nebeneinander…</translation>
    </message>
    <message>
        <source>The answers of the chosen runs</source>
        <translation>Die Antworten der gewählten Durchläufe</translation>
    </message>
    <message>
        <source>Which questions</source>
        <translation>Welche Fragen</translation>
    </message>
    <message>
        <source>Tag</source>
        <translation>Schlagwort</translation>
    </message>
    <message>
        <source>Write questions…</source>
        <translation>Fragen schreiben…</translation>
    </message>
    <message>
        <source>From answers I judged or rewrote</source>
        <translation>Aus Antworten, die ich beurteilt oder neu geschrieben habe</translation>
    </message>
    <message>
        <source>From a file…</source>
        <translation>Aus einer Datei…</translation>
    </message>
    <message>
        <source>Proposed from my documents</source>
        <translation>Aus meinen Dokumenten vorgeschlagen</translation>
    </message>
    <message>
        <source>Headings and sentences of my documents</source>
        <translation>Überschriften und Sätze meiner Dokumente</translation>
    </message>
    <message>
        <source>This set has no questions yet. “Edit…” and “Add questions” give it some.</source>
        <translation>Dieser Fragensatz hat noch keine Fragen. „Bearbeiten…“ und „Fragen hinzufügen“ geben ihm welche.</translation>
    </message>
    <message>
        <source>Choose two runs or more to compare them.</source>
        <translation>Wählen Sie zwei oder mehr Läufe, um sie zu vergleichen.</translation>
    </message>
    <message>
        <source>My questions</source>
        <translation>Meine Fragen</translation>
    </message>
    <message>
        <source>question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>questions</source>
        <translation>Fragen</translation>
    </message>
    <message>
        <source>{asked} in {seconds} s</source>
        <translation>{asked} in {seconds} s</translation>
    </message>
    <message>
        <source>{calls} in {seconds} s, {tokens_in:,} tokens in, {tokens_out:,} out</source>
        <translation>{calls} in {seconds} s, {tokens_in:,} Token Eingabe, {tokens_out:,} Ausgabe</translation>
    </message>
    <message>
        <source>call</source>
        <translation>Aufruf</translation>
    </message>
    <message>
        <source>calls</source>
        <translation>Aufrufe</translation>
    </message>
    <message>
        <source>All tags</source>
        <translation>Alle Schlagwörter</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Press “Ask…” to have the questions answered.</source>
        <translation>Drücken Sie „Fragen…“, um die Fragen beantworten zu lassen.</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausieren</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>Bibliothek</translation>
    </message>
    <message>
        <source>Add files…</source>
        <translation>Dateien hinzufügen…</translation>
    </message>
    <message>
        <source>Add web links…</source>
        <translation>Weblinks hinzufügen…</translation>
    </message>
    <message>
        <source>View of the library</source>
        <translation>Ansicht der Bibliothek</translation>
    </message>
    <message>
        <source>Collections…</source>
        <translation>Sammlungen…</translation>
    </message>
    <message>
        <source>Paused on battery power</source>
        <translation>Im Akkubetrieb pausiert</translation>
    </message>
    <message>
        <source>Up to {MOST_ITEMS:,} files can be asked about together.</source>
        <translation>Höchstens {MOST_ITEMS:,} Dateien können gemeinsam befragt werden.</translation>
    </message>
    <message>
        <source>Select fewer, or ask about their folder.</source>
        <translation>Wählen Sie weniger aus, oder fragen Sie zu ihrem Ordner.</translation>
    </message>
    <message>
        <source>Indexing progress</source>
        <translation>Fortschritt der Indizierung</translation>
    </message>
    <message>
        <source>Reading {name}</source>
        <translation>{name} wird gelesen</translation>
    </message>
    <message>
        <source>Ask about the selected files only (Ctrl+Shift+Return)</source>
        <translation>Nur zu den ausgewählten Dateien fragen (Strg+Umschalt+Eingabe)</translation>
    </message>
    <message>
        <source>Read the selected file here (Return)</source>
        <translation>Ausgewählte Datei hier lesen (Eingabe)</translation>
    </message>
    <message>
        <source>Index the selected files again (Ctrl+R)</source>
        <translation>Ausgewählte Dateien erneut indizieren (Strg+R)</translation>
    </message>
    <message>
        <source>Never read the selected files again (Delete)</source>
        <translation>Ausgewählte Dateien nie wieder lesen (Entf)</translation>
    </message>
    <message>
        <source>{shown:,} of {files}</source>
        <translation>{shown:,} von {files}</translation>
    </message>
    <message>
        <source>{words} · {selected:,} selected</source>
        <translation>{words} · {selected:,} ausgewählt</translation>
    </message>
    <message>
        <source>Add a folder to the library</source>
        <translation>Ordner zur Bibliothek hinzufügen</translation>
    </message>
    <message>
        <source>Add files to the library</source>
        <translation>Dateien zur Bibliothek hinzufügen</translation>
    </message>
    <message>
        <source>Where is {one_line} now?</source>
        <translation>Wo ist {one_line} jetzt?</translation>
    </message>
    <message>
        <source>folder or link</source>
        <translation>Ordner oder Link</translation>
    </message>
    <message>
        <source>folder or links</source>
        <translation>Ordner oder Links</translation>
    </message>
    <message>
        <source>{count:,} folders or links</source>
        <translation>{count:,} Ordner oder Links</translation>
    </message>
    <message>
        <source>{moved} moved to another collection.</source>
        <translation>In eine andere Sammlung verschoben: {moved}.</translation>
    </message>
    <message>
        <source>“{name}” is removed from the library.</source>
        <translation>„{name}“ ist aus der Bibliothek entfernt.</translation>
    </message>
    <message>
        <source>Its files stay where they are.</source>
        <translation>Die Dateien bleiben, wo sie sind.</translation>
    </message>
    <message>
        <source>Partly supported</source>
        <translation>Teilweise belegt</translation>
    </message>
    <message>
        <source>Not found in the sources</source>
        <translation>In den Quellen nicht gefunden</translation>
    </message>
    <message>
        <source>Contradicted by a source</source>
        <translation>Eine Quelle widerspricht</translation>
    </message>
    <message>
        <source>not in sources</source>
        <translation>nicht in Quellen</translation>
    </message>
    <message>
        <source>contradicted</source>
        <translation>widersprochen</translation>
    </message>
    <message>
        <source>not in its source: {named}</source>
        <translation>nicht in der Quelle: {named}</translation>
    </message>
    <message>
        <source>Near to the sources</source>
        <translation>Den Quellen ähnlich</translation>
    </message>
    <message>
        <source>Checking against the sources…</source>
        <translation>Abgleich mit den Quellen…</translation>
    </message>
    <message>
        <source>No sentence could be checked</source>
        <translation>Kein Satz konnte geprüft werden</translation>
    </message>
    <message>
        <source> · checking…</source>
        <translation> · wird geprüft…</translation>
    </message>
    <message>
        <source>{count:,} could not be checked</source>
        <translation>{count:,} nicht prüfbar</translation>
    </message>
    <message>
        <source>{count:,} nearly</source>
        <translation>{count:,} nahezu</translation>
    </message>
    <message>
        <source>1 sentence contradicts</source>
        <translation>1 Satz widerspricht</translation>
    </message>
    <message>
        <source>{count} sentences contradict</source>
        <translation>{count} Sätze widersprechen</translation>
    </message>
    <message>
        <source>{subject} the sources</source>
        <translation>{subject} den Quellen</translation>
    </message>
    <message>
        <source>No sentence is backed by sources</source>
        <translation>Kein Satz ist durch Quellen belegt</translation>
    </message>
    <message>
        <source>1 of {total} sentences is backed by sources</source>
        <translation>1 von {total} Sätzen ist durch Quellen belegt</translation>
    </message>
    <message>
        <source>{supported} of {total} sentences are backed by sources</source>
        <translation>{supported} von {total} Sätzen sind durch Quellen belegt</translation>
    </message>
    <message>
        <source>Diagram source ({capitalize})</source>
        <translation>Diagrammquelltext ({capitalize})</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>no description</source>
        <translation>keine Beschreibung</translation>
    </message>
    <message>
        <source>Show {hidden:,} more characters</source>
        <translation>{hidden:,} weitere Zeichen anzeigen</translation>
    </message>
    <message>
        <source>Reading the sources…</source>
        <translation>Die Quellen werden gelesen…</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>Denkt nach…</translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation>Schreibt…</translation>
    </message>
    <message>
        <source>Good answer</source>
        <translation>Gute Antwort</translation>
    </message>
    <message>
        <source>Bad answer</source>
        <translation>Schlechte Antwort</translation>
    </message>
    <message>
        <source>cut off</source>
        <translation>abgeschnitten</translation>
    </message>
    <message>
        <source>Excerpts from your documents</source>
        <translation>Auszüge aus Ihren Dokumenten</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Gedankengang</translation>
    </message>
    <message>
        <source>Retry</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Show excerpts instead</source>
        <translation>Stattdessen Auszüge zeigen</translation>
    </message>
    <message>
        <source>This answer is not stored yet: the disk refuses it. It is stored by itself once that works again, as long as the app stays open.</source>
        <translation>Diese Antwort ist noch nicht gespeichert: Der Datenträger nimmt sie nicht an. Sie wird von selbst gespeichert, sobald das wieder geht, solange die App geöffnet bleibt.</translation>
    </message>
    <message>
        <source>Checking the answer against its sources</source>
        <translation>Die Antwort wird an ihren Quellen geprüft</translation>
    </message>
    <message>
        <source>Copy answer</source>
        <translation>Antwort kopieren</translation>
    </message>
    <message>
        <source>Questions like this one get it as their first example.</source>
        <translation>Ähnliche Fragen bekommen sie als erstes Beispiel.</translation>
    </message>
    <message>
        <source>It is an example for no other question.</source>
        <translation>Sie ist für keine andere Frage ein Beispiel.</translation>
    </message>
    <message>
        <source>A source is a passage. A file may give several.</source>
        <translation>Eine Quelle ist eine Textstelle. Aus einer Datei können mehrere stammen.</translation>
    </message>
    <message>
        <source>Write your own answer, which later ones can cite</source>
        <translation>Eine eigene Antwort schreiben, die spätere zitieren können</translation>
    </message>
    <message>
        <source>Regenerate answer</source>
        <translation>Antwort neu erstellen</translation>
    </message>
    <message>
        <source>More for this answer</source>
        <translation>Mehr zu dieser Antwort</translation>
    </message>
    <message>
        <source>Remove this answer</source>
        <translation>Diese Antwort entfernen</translation>
    </message>
    <message>
        <source>your own answer is saved</source>
        <translation>Ihre eigene Antwort ist gespeichert</translation>
    </message>
    <message>
        <source>The passages beside the answer are of these files. What is inside a file, such as an attachment, counts as a file here.</source>
        <translation>Aus diesen Dateien sind die Passagen neben der Antwort. Was in einer Datei liegt, etwa ein Anhang, zählt hier als Datei.</translation>
    </message>
    <message>
        <source>Excerpts come without a model. A model writes answers from them.</source>
        <translation>Auszüge kommen ohne Modell. Ein Modell schreibt Antworten daraus.</translation>
    </message>
    <message>
        <source>Written answers…</source>
        <translation>Geschriebene Antworten…</translation>
    </message>
    <message>
        <source>Not checked, as the answer is not complete</source>
        <translation>Nicht geprüft, weil die Antwort nicht vollständig ist</translation>
    </message>
    <message>
        <source>Check with {model}…</source>
        <translation>Mit {model} prüfen…</translation>
    </message>
    <message>
        <source>Rewrite answer</source>
        <translation>Antwort umschreiben</translation>
    </message>
    <message>
        <source>Continue in a copy of this chat</source>
        <translation>In einer Kopie dieses Chats fortfahren</translation>
    </message>
    <message>
        <source>Ask this regularly…</source>
        <translation>Regelmäßig fragen…</translation>
    </message>
    <message>
        <source>My notes</source>
        <translation>Meine Notizen</translation>
    </message>
    <message>
        <source>Answer check: {words}. Press for details.</source>
        <translation>Prüfung der Antwort: {words}. Für Details drücken.</translation>
    </message>
    <message>
        <source>{name} (selected)</source>
        <translation>{name} (ausgewählt)</translation>
    </message>
    <message>
        <source>Show the nearest passages</source>
        <translation>Nächstliegende Textstellen anzeigen</translation>
    </message>
    <message>
        <source>every file asked</source>
        <translation>jede Datei befragt</translation>
    </message>
    <message>
        <source>No source says anything similar.</source>
        <translation>Keine Quelle sagt etwas Ähnliches.</translation>
    </message>
    <message>
        <source>It was not compared with any source.</source>
        <translation>Er wurde mit keiner Quelle verglichen.</translation>
    </message>
    <message>
        <source>Quote</source>
        <translation>Wörtliches Zitat</translation>
    </message>
    <message>
        <source>Computed</source>
        <translation>Nachgerechnet</translation>
    </message>
    <message>
        <source>From a table</source>
        <translation>Aus einer Tabelle</translation>
    </message>
    <message>
        <source>Read by the app</source>
        <translation>Von der App gelesen</translation>
    </message>
    <message>
        <source>Previous sentence</source>
        <translation>Vorheriger Satz</translation>
    </message>
    <message>
        <source>Next sentence</source>
        <translation>Nächster Satz</translation>
    </message>
    <message>
        <source>Result of the check</source>
        <translation>Ergebnis der Prüfung</translation>
    </message>
    <message>
        <source>What the model says</source>
        <translation>Was das Modell sagt</translation>
    </message>
    <message>
        <source>Sentence of the answer</source>
        <translation>Satz der Antwort</translation>
    </message>
    <message>
        <source>Evidence in the source</source>
        <translation>Beleg in der Quelle</translation>
    </message>
    <message>
        <source>The answer says</source>
        <translation>In der Antwort steht</translation>
    </message>
    <message>
        <source>Show in document</source>
        <translation>Im Dokument anzeigen</translation>
    </message>
    <message>
        <source>Verify in {one_line}</source>
        <translation>In {one_line} prüfen</translation>
    </message>
    <message>
        <source>{value} of {count}</source>
        <translation>{value} von {count}</translation>
    </message>
    <message>
        <source>Read by the app. {model} says: {said}</source>
        <translation>Von der App gelesen. {model} sagt: {said}</translation>
    </message>
    <message>
        <source>Read by {model}</source>
        <translation>Von {model} gelesen</translation>
    </message>
    <message>
        <source>The sources</source>
        <translation>Die Quellen</translation>
    </message>
    <message>
        <source>Source {n} ({where}) says</source>
        <translation>In Quelle {n} ({where}) steht</translation>
    </message>
    <message>
        <source>Calculated with a query</source>
        <translation>Mit einer Abfrage berechnet</translation>
    </message>
    <message>
        <source>Calculated by rule, with a query</source>
        <translation>Nach Regeln berechnet, mit einer Abfrage</translation>
    </message>
    <message>
        <source>Query</source>
        <translation>Abfrage</translation>
    </message>
    <message>
        <source>Change the query…</source>
        <translation>Abfrage ändern …</translation>
    </message>
    <message>
        <source>Puts it into the field for questions; sent from there, it runs again.</source>
        <translation>Übernimmt sie in das Fragefeld; von dort gesendet, läuft sie noch einmal.</translation>
    </message>
    <message>
        <source>1 sentence of the model not backed by a source</source>
        <translation>1 Satz des Modells, den keine Quelle belegt</translation>
    </message>
    <message>
        <source>{count} sentences of the model not backed by a source</source>
        <translation>{count} Sätze des Modells, die keine Quelle belegt</translation>
    </message>
    <message>
        <source>Looked further: {steps}</source>
        <translation>Weitergesucht: {steps}</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>{step}. Press to open what was found.</source>
        <translation>{step}. Drücken, um das Gefundene zu öffnen.</translation>
    </message>
    <message>
        <source>Copy code</source>
        <translation>Code kopieren</translation>
    </message>
    <message>
        <source>Copy diagram source</source>
        <translation>Diagrammquelltext kopieren</translation>
    </message>
    <message>
        <source>Copy cells</source>
        <translation>Zellen kopieren</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>Als Markdown kopieren</translation>
    </message>
    <message>
        <source>Ask next</source>
        <translation>Als Nächstes fragen</translation>
    </message>
    <message>
        <source>Reading file {value:,} of {total:,}</source>
        <translation>Datei {value:,} von {total:,} wird gelesen</translation>
    </message>
    <message>
        <source> ({found:,} relevant so far): {title}</source>
        <translation> (bisher {found:,} relevant): {title}</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>Nachrichten</translation>
    </message>
    <message>
        <source>Show earlier messages</source>
        <translation>Frühere Nachrichten anzeigen</translation>
    </message>
    <message>
        <source>Show later messages</source>
        <translation>Spätere Nachrichten zeigen</translation>
    </message>
    <message>
        <source>Go to the newest message</source>
        <translation>Zur neuesten Nachricht</translation>
    </message>
    <message>
        <source>Without documents, as you chose: nothing was searched. The model answers from its own knowledge, without sources or checks.</source>
        <translation>Ohne Dokumente, wie von Ihnen gewählt: Es wurde nichts durchsucht. Das Modell antwortet aus seinem eigenen Wissen, ohne Quellen oder Prüfungen.</translation>
    </message>
    <message>
        <source>Not from your documents: nothing relevant was found in them. The model answers from its own knowledge, without sources or checks.</source>
        <translation>Nicht aus Ihren Dokumenten: Darin wurde nichts Relevantes gefunden. Das Modell antwortet aus seinem eigenen Wissen, ohne Quellen oder Prüfungen.</translation>
    </message>
    <message>
        <source>Newest messages</source>
        <translation>Neueste Nachrichten</translation>
    </message>
    <message>
        <source>New text below</source>
        <translation>Neuer Text weiter unten</translation>
    </message>
    <message>
        <source>Press to see and delete them.</source>
        <translation>Drücken, um sie zu sehen und zu löschen.</translation>
    </message>
    <message>
        <source>Guided by {count_of}</source>
        <translation>Als Vorbild: {count_of}</translation>
    </message>
    <message>
        <source>earlier answer</source>
        <translation>frühere Antwort</translation>
    </message>
    <message>
        <source>earlier answers</source>
        <translation>frühere Antworten</translation>
    </message>
    <message>
        <source>Edit question</source>
        <translation>Frage bearbeiten</translation>
    </message>
    <message>
        <source>Teach this to a topic</source>
        <translation>Diesen Satz einem Thema beibringen</translation>
    </message>
    <message>
        <source>Question with marked words</source>
        <translation>Frage mit markierten Wörtern</translation>
    </message>
    <message>
        <source>{value}… ({hidden:,} more characters)</source>
        <translation>{value}… ({hidden:,} weitere Zeichen)</translation>
    </message>
    <message>
        <source>You asked: {text}</source>
        <translation>Ihre Frage: {text}</translation>
    </message>
    <message>
        <source>{verdict_in_words}. Click for details.</source>
        <translation>{verdict_in_words}. Für Details klicken.</translation>
    </message>
    <message>
        <source>New endpoint</source>
        <translation>Neuer Endpunkt</translation>
    </message>
    <message>
        <source>Endpoint</source>
        <translation>Endpunkt</translation>
    </message>
    <message>
        <source>Use for answers</source>
        <translation>Für Antworten verwenden</translation>
    </message>
    <message>
        <source>Add endpoint</source>
        <translation>Endpunkt hinzufügen</translation>
    </message>
    <message>
        <source>Remove this endpoint; its key stays in the keyring</source>
        <translation>Diesen Endpunkt entfernen; sein Schlüssel bleibt im Schlüsselbund</translation>
    </message>
    <message>
        <source> · in use</source>
        <translation> · in Verwendung</translation>
    </message>
    <message>
        <source>Any server with an OpenAI-compatible API, on this computer or elsewhere. Without one, answers are excerpts from your documents. With one, only the prompt is sent to it: your question, the conversation so far and the passages found for it. Each new model is also tested once with sample text.</source>
        <translation>Ein beliebiger Server mit OpenAI-kompatibler API, auf diesem Computer oder anderswo. Ohne ihn sind Antworten Auszüge aus Ihren Dokumenten. Mit ihm wird nur die Anfrage an ihn gesendet: Ihre Frage, das bisherige Gespräch und die dazu gefundenen Textstellen. Jedes neue Modell wird außerdem einmal mit einem Beispieltext getestet.</translation>
    </message>
    <message>
        <source>Another endpoint already has this address. Select it above.</source>
        <translation>Ein anderer Endpunkt hat diese Adresse bereits. Wählen Sie ihn oben aus.</translation>
    </message>
    <message>
        <source>This is your own computer. Nothing leaves it.</source>
        <translation>Das ist Ihr eigener Computer. Nichts verlässt ihn.</translation>
    </message>
    <message>
        <source>Your question and the passages found for it are sent to {host_of}</source>
        <translation>Ihre Frage und die dazu gefundenen Textstellen werden an {host_of} gesendet</translation>
    </message>
    <message>
        <source>{sent} without encryption.</source>
        <translation>{sent}, und zwar unverschlüsselt.</translation>
    </message>
    <message>
        <source>Other chunks are made in a library of their own, which takes long.</source>
        <translation>Andere Textstellen werden in einer eigenen Bibliothek erzeugt, was lange dauert.</translation>
    </message>
    <message>
        <source>Excerpts ask no model, so instructions change nothing.</source>
        <translation>Auszüge fragen kein Modell, daher ändern Anweisungen nichts.</translation>
    </message>
    <message>
        <source>Each set-up answers every question. Change one thing at a time, and you learn what it is good for. What is left as usual is as in the settings.</source>
        <translation>Jeder Aufbau beantwortet jede Frage. Ändern Sie nur eines auf einmal, dann erfahren Sie, was es bringt. Was wie gewohnt bleibt, ist wie in den Einstellungen.</translation>
    </message>
    <message>
        <source>Ask the questions</source>
        <translation>Die Fragen stellen</translation>
    </message>
    <message>
        <source>Set-ups</source>
        <translation>Aufbauten</translation>
    </message>
    <message>
        <source>Another set-up</source>
        <translation>Weiterer Aufbau</translation>
    </message>
    <message>
        <source>As usual</source>
        <translation>Wie gewohnt</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>My questions, experiments, evaluation, benchmark, which model is better, test</source>
        <translation>Meine Fragen, Versuche, Auswertung, Benchmark, welches Modell ist besser, Test</translation>
    </message>
    <message>
        <source>question set, judge, run, two models, compare answers</source>
        <translation>Fragenliste, beurteilen, Lauf, zwei Modelle, Antworten vergleichen</translation>
    </message>
    <message>
        <source>Chunks</source>
        <translation>Textstellen</translation>
    </message>
    <message>
        <source>passages, chunk size, overlap, tokens, splitting, compare chunks</source>
        <translation>Textstellen, Abschnittsgröße, Überlappung, Token, Aufteilung, Abschnitte vergleichen</translation>
    </message>
    <message>
        <source>Compare models</source>
        <translation>Modelle vergleichen</translation>
    </message>
    <message>
        <source>As usual ({model})</source>
        <translation>Wie sonst ({model})</translation>
    </message>
    <message>
        <source>What is compared</source>
        <translation>Was verglichen wird</translation>
    </message>
    <message>
        <source>Search alone, which writes no answers</source>
        <translation>Nur die Suche, ohne Antworten</translation>
    </message>
    <message>
        <source>Set-up {number}</source>
        <translation>Aufbau {number}</translation>
    </message>
    <message>
        <source>Ask all the same</source>
        <translation>Trotzdem fragen</translation>
    </message>
    <message>
        <source>Unnamed</source>
        <translation>Ohne Namen</translation>
    </message>
    <message>
        <source>Meaning alone</source>
        <translation>Nur Bedeutung</translation>
    </message>
    <message>
        <source>Meaning more</source>
        <translation>Mehr Bedeutung</translation>
    </message>
    <message>
        <source>Words more</source>
        <translation>Mehr Wörter</translation>
    </message>
    <message>
        <source>Words alone</source>
        <translation>Nur Wörter</translation>
    </message>
    <message>
        <source>By structure</source>
        <translation>Nach Gliederung</translation>
    </message>
    <message>
        <source>By structure, up to {count:,} tokens</source>
        <translation>Nach Gliederung, bis {count:,} Token</translation>
    </message>
    <message>
        <source>By tokens</source>
        <translation>Nach Token</translation>
    </message>
    <message>
        <source>{count:,} tokens each</source>
        <translation>Je {count:,} Token</translation>
    </message>
    <message>
        <source>Your own questions show best what you would find.</source>
        <translation>Ihre eigenen Fragen zeigen am besten, was Sie finden würden.</translation>
    </message>
    <message>
        <source>A model wrote the questions from passages. They use the words of the text more than people do, so your own questions will find less.</source>
        <translation>Ein Modell hat die Fragen aus Textstellen geschrieben. Sie verwenden die Wörter des Textes mehr, als Menschen es tun; Ihre eigenen Fragen werden weniger finden.</translation>
    </message>
    <message>
        <source>The questions are headings and sentences of the documents, without a model. They show whether chunks keep together what belongs together, and little about how people ask: take a small difference for none.</source>
        <translation>Die Fragen sind Überschriften und Sätze aus den Dokumenten, ohne Modell. Sie zeigen, ob Textstellen zusammenhalten, was zusammengehört, und wenig darüber, wie Menschen fragen: Ein kleiner Unterschied ist keiner.</translation>
    </message>
    <message>
        <source>the right passage was not among the first {depth:,}</source>
        <translation>die richtige Stelle war nicht unter den ersten {depth:,}</translation>
    </message>
    <message>
        <source>the right passage was number {rank:,}</source>
        <translation>die richtige Stelle war Nummer {rank:,}</translation>
    </message>
    <message>
        <source>first came {name}</source>
        <translation>zuerst kam {name}</translation>
    </message>
    <message>
        <source>its document could not be read, or is gone</source>
        <translation>das Dokument konnte nicht gelesen werden oder ist weg</translation>
    </message>
    <message>
        <source>the answer is split across {count:,} chunks</source>
        <translation>die Antwort ist auf {count:,} Textstellen verteilt</translation>
    </message>
    <message>
        <source>it has {share:.0f} % of the words of the question</source>
        <translation>sie enthält {share:.0f} % der Wörter der Frage</translation>
    </message>
    <message>
        <source>only a part of the answer was in the passages</source>
        <translation>nur ein Teil der Antwort war in den Stellen</translation>
    </message>
    <message>
        <source>By words</source>
        <translation>Nach Wörtern</translation>
    </message>
    <message>
        <source>Any name you like</source>
        <translation>Ein beliebiger Name</translation>
    </message>
    <message>
        <source>A name, or press Test for a list</source>
        <translation>Name, oder „Testen“ für eine Liste</translation>
    </message>
    <message>
        <source>By the endpoint&apos;s list: {facts}.</source>
        <translation>Laut der Liste des Endpunkts: {facts}.</translation>
    </message>
    <message>
        <source>{n:,} tokens</source>
        <translation>{n:,} Token</translation>
    </message>
    <message>
        <source>free</source>
        <translation>kostenlos</translation>
    </message>
    <message>
        <source>{asked} in and {answered} out per million</source>
        <translation>{asked} Eingabe und {answered} Ausgabe je Million</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>Testen</translation>
    </message>
    <message>
        <source>Models (*.gguf)</source>
        <translation>Modelle (*.gguf)</translation>
    </message>
    <message>
        <source>A model writes answers from your documents. Choose where it runs; you can change it.</source>
        <translation>Ein Modell schreibt Antworten aus Ihren Dokumenten. Wählen Sie, wo es läuft; das lässt sich ändern.</translation>
    </message>
    <message>
        <source>This installation can&apos;t run models by itself. Use one of the ways below, or add what it needs:</source>
        <translation>Diese Installation kann selbst keine Modelle ausführen. Nutzen Sie einen der Wege unten, oder ergänzen Sie, was fehlt:</translation>
    </message>
    <message>
        <source>Looking at the usual addresses…</source>
        <translation>Sucht an den üblichen Adressen…</translation>
    </message>
    <message>
        <source>Written answers</source>
        <translation>Geschriebene Antworten</translation>
    </message>
    <message>
        <source>Progress of the download</source>
        <translation>Fortschritt des Downloads</translation>
    </message>
    <message>
        <source>Choose a model file…</source>
        <translation>Modelldatei wählen…</translation>
    </message>
    <message>
        <source>All models…</source>
        <translation>Alle Modelle…</translation>
    </message>
    <message>
        <source>Find one</source>
        <translation>Eines suchen</translation>
    </message>
    <message>
        <source>Choose in Settings…</source>
        <translation>In den Einstellungen wählen…</translation>
    </message>
    <message>
        <source>{name}: {size} from {host}, about {minutes} min at 100 Mbit/s, licence: {licence}. It is kept in {folder}.</source>
        <translation>{name}: {size} von {host}, etwa {minutes} min bei 100 Mbit/s, Lizenz: {licence}. Es liegt in {folder}.</translation>
    </message>
    <message>
        <source>Here already, under “All models…”: {names}.</source>
        <translation>Schon hier, unter „Alle Modelle…“: {names}.</translation>
    </message>
    <message>
        <source>{name} is in use.</source>
        <translation>{name} ist in Verwendung.</translation>
    </message>
    <message>
        <source>Ask again for a written answer.</source>
        <translation>Fragen Sie für eine geschriebene Antwort noch einmal.</translation>
    </message>
    <message>
        <source>A model this small makes things up: it adds to excerpts only what they back.</source>
        <translation>Ein so kleines Modell erfindet Dinge: Es ergänzt Auszüge nur um das, was sie belegen.</translation>
    </message>
    <message>
        <source>Loading “{name}”…</source>
        <translation>„{name}“ wird geladen…</translation>
    </message>
    <message>
        <source>{name} is used from now on.</source>
        <translation>Ab jetzt wird {name} verwendet.</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>Auf diesem Computer</translation>
    </message>
    <message>
        <source>Looking for models on this computer…</source>
        <translation>Modelle auf diesem Computer werden gesucht…</translation>
    </message>
    <message>
        <source>{size}, found in {program}.</source>
        <translation>{size}, gefunden in {program}.</translation>
    </message>
    <message>
        <source>None yet.</source>
        <translation>Noch keine.</translation>
    </message>
    <message>
        <source>To fetch from {host}</source>
        <translation>Von {host} zu holen</translation>
    </message>
    <message>
        <source>Kept in {folder}</source>
        <translation>Abgelegt in {folder}</translation>
    </message>
    <message>
        <source>On this computer; the fetched ones take {size}</source>
        <translation>Auf diesem Computer; die geholten belegen {size}</translation>
    </message>
    <message>
        <source>Use {name}</source>
        <translation>{name} verwenden</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Fetch it</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Fetch {name}</source>
        <translation>{name} holen</translation>
    </message>
    <message>
        <source>Delete “{name}”?

{size} become free.</source>
        <translation>„{name}“ löschen?

{size} werden frei.</translation>
    </message>
    <message>
        <source>Take “{name}” off the list?

Its file stays.</source>
        <translation>„{name}“ von der Liste nehmen?

Die Datei bleibt.</translation>
    </message>
    <message>
        <source>Delete what was fetched of “{name}”?

{size} become free.</source>
        <translation>Den geholten Teil von „{name}“ löschen?

{size} werden frei.</translation>
    </message>
    <message>
        <source>Remove model</source>
        <translation>Modell entfernen</translation>
    </message>
    <message>
        <source>makes things up: only what your documents back is shown</source>
        <translation>erfindet manches: nur was Ihre Dokumente belegen, wird gezeigt</translation>
    </message>
    <message>
        <source>reads {count} tokens</source>
        <translation>liest {count} Tokens</translation>
    </message>
    <message>
        <source>too large for the memory that is free</source>
        <translation>zu groß für den freien Arbeitsspeicher</translation>
    </message>
    <message>
        <source>writes {count:.0f} tokens a second on {device}</source>
        <translation>schreibt {count:.0f} Tokens je Sekunde auf {device}</translation>
    </message>
    <message>
        <source>for {size:.0f} GB of memory</source>
        <translation>für {size:.0f} GB Arbeitsspeicher</translation>
    </message>
    <message>
        <source>calls tools</source>
        <translation>ruft Werkzeuge auf</translation>
    </message>
    <message>
        <source>kept by {program}, which also removes it</source>
        <translation>gehört {program} und wird dort entfernt</translation>
    </message>
    <message>
        <source>about {size}</source>
        <translation>etwa {size}</translation>
    </message>
    <message>
        <source>{names} and about {count} more</source>
        <translation>{names} und etwa {count} weitere</translation>
    </message>
    <message>
        <source>{name}: {done} of {total}</source>
        <translation>{name}: {done} von {total}</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Ollama, LM Studio, llama.cpp and others, at their usual addresses.</source>
        <translation>Ollama, LM Studio, llama.cpp und andere, an ihren üblichen Adressen.</translation>
    </message>
    <message>
        <source>None answers at the usual addresses.</source>
        <translation>An den üblichen Adressen antwortet keines.</translation>
    </message>
    <message>
        <source>It needs a key, and is sent the passages that a question finds.</source>
        <translation>Er braucht einen Schlüssel und bekommt die Stellen gesendet, die eine Frage findet.</translation>
    </message>
    <message>
        <source>A program that already runs here</source>
        <translation>Ein Programm, das hier schon läuft</translation>
    </message>
    <message>
        <source>An online service</source>
        <translation>Ein Online-Dienst</translation>
    </message>
    <message>
        <source>Choose a model file</source>
        <translation>Modelldatei wählen</translation>
    </message>
    <message>
        <source>Online service</source>
        <translation>Onlinedienst</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>API key</source>
        <translation>API-Schlüssel</translation>
    </message>
    <message>
        <source>Capabilities</source>
        <translation>Fähigkeiten</translation>
    </message>
    <message>
        <source>Replace {blank} in the address.</source>
        <translation>Ersetzen Sie {blank} in der Adresse.</translation>
    </message>
    <message>
        <source>Without an address, answers are excerpts.</source>
        <translation>Ohne Adresse sind Antworten Auszüge.</translation>
    </message>
    <message>
        <source>Testing…</source>
        <translation>Wird getestet…</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>Unbegrenzt</translation>
    </message>
    <message>
        <source> per million tokens</source>
        <translation> pro Million Token</translation>
    </message>
    <message>
        <source>At a rate limit, a question waits up to 20 seconds before it fails with an explanation. Enter prices as listed by your provider, in any currency. Without them, those of the endpoint&apos;s list of models count, where it has any; they are in US dollars. Runs of My questions and scheduled questions that may cost more than you set are not begun without you.</source>
        <translation>Bei einer Ratenbegrenzung wartet eine Frage bis zu 20 Sekunden, bevor sie mit einer Erklärung fehlschlägt. Geben Sie Preise so ein, wie Ihr Anbieter sie nennt, in beliebiger Währung. Ohne Angabe gelten die aus der Modellliste des Endpunkts, sofern sie welche hat, in US-Dollar. Läufe von Meine Fragen und geplante Fragen, die mehr kosten können, als Sie festgelegt haben, beginnen nicht ohne Sie.</translation>
    </message>
    <message>
        <source>too many requests, throttle, quota, 429, speed limit</source>
        <translation>zu viele Anfragen, drosseln, Kontingent, 429, Begrenzung</translation>
    </message>
    <message>
        <source>costs, money, dollars, fee, bill, per token</source>
        <translation>Kosten, Geld, Euro, Gebühr, Rechnung, je Token</translation>
    </message>
    <message>
        <source>costs, money, spending limit, cap, expensive</source>
        <translation>Kosten, Geld, Ausgaben begrenzen, Obergrenze, teuer</translation>
    </message>
    <message>
        <source> requests per minute</source>
        <translation> Anfragen pro Minute</translation>
    </message>
    <message>
        <source> tokens per minute</source>
        <translation> Token pro Minute</translation>
    </message>
    <message>
        <source>Requests per minute</source>
        <translation>Anfragen je Minute</translation>
    </message>
    <message>
        <source>Tokens per minute</source>
        <translation>Token je Minute</translation>
    </message>
    <message>
        <source>Price per million input tokens</source>
        <translation>Preis je Million Token Eingabe</translation>
    </message>
    <message>
        <source>Price per million output tokens</source>
        <translation>Preis je Million Token Ausgabe</translation>
    </message>
    <message>
        <source>No request limit</source>
        <translation>Anfragen unbegrenzt</translation>
    </message>
    <message>
        <source>No token limit</source>
        <translation>Token unbegrenzt</translation>
    </message>
    <message>
        <source>Never ask</source>
        <translation>Nie fragen</translation>
    </message>
    <message>
        <source>Set limits and prices</source>
        <translation>Grenzen und Preise festlegen</translation>
    </message>
    <message>
        <source>Limits</source>
        <translation>Grenzen</translation>
    </message>
    <message>
        <source>Rate limit</source>
        <translation>Ratenbegrenzung</translation>
    </message>
    <message>
        <source>Input price</source>
        <translation>Preis der Eingabe</translation>
    </message>
    <message>
        <source>Endpoints</source>
        <translation>Endpunkte</translation>
    </message>
    <message>
        <source>Context size</source>
        <translation>Kontextgröße</translation>
    </message>
    <message>
        <source>tokens, context window, memory of the model, context length</source>
        <translation>Token, Kontextfenster, Gedächtnis des Modells, Kontextlänge</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Timeout</source>
        <translation>Zeitlimit</translation>
    </message>
    <message>
        <source>slow model, waits, takes too long, seconds</source>
        <translation>langsames Modell, wartet, dauert zu lange, Sekunden</translation>
    </message>
    <message>
        <source>The longest silence while an answer is made, nine times that on this computer and network: models there read long prompts without a word. Small tasks beside answers have less.</source>
        <translation>So lange darf der Endpunkt während einer Antwort schweigen, auf diesem Computer und im eigenen Netz neunmal so lange: Dort lesen Modelle lange Prompts ohne ein Wort. Kleine Aufgaben neben Antworten haben weniger Zeit.</translation>
    </message>
    <message>
        <source>title, rename the endpoint</source>
        <translation>Titel, Endpunkt umbenennen</translation>
    </message>
    <message>
        <source>Output price</source>
        <translation>Preis der Ausgabe</translation>
    </message>
    <message>
        <source>Daily budget</source>
        <translation>Tagesbudget</translation>
    </message>
    <message>
        <source>Ask before a run above</source>
        <translation>Vor einem Lauf nachfragen ab</translation>
    </message>
    <message>
        <source>Built-in model</source>
        <translation>Eingebautes Modell</translation>
    </message>
    <message>
        <source>big files, large files, limit, too large, skipped</source>
        <translation>große Dateien, Grenze, zu groß, übersprungen</translation>
    </message>
    <message>
        <source>Larger files are skipped and listed in the library.</source>
        <translation>Größere Dateien werden übergangen und in der Bibliothek aufgeführt.</translation>
    </message>
    <message>
        <source>Processor threads</source>
        <translation>Prozessor-Threads</translation>
    </message>
    <message>
        <source>CPU, cores, slow computer, fan, speed of indexing, performance</source>
        <translation>CPU, Kerne, langsamer Computer, Lüfter, Tempo der Indizierung, Leistung</translation>
    </message>
    <message>
        <source>Fewer threads leave more power for other apps.</source>
        <translation>Weniger Threads lassen anderen Programmen mehr Leistung.</translation>
    </message>
    <message>
        <source> threads</source>
        <translation> Threads</translation>
    </message>
    <message>
        <source>Pause indexing on battery power</source>
        <translation>Im Akkubetrieb pausieren</translation>
    </message>
    <message>
        <source>Battery</source>
        <translation>Akku</translation>
    </message>
    <message>
        <source>laptop, energy, unplugged, save power, stop indexing</source>
        <translation>Laptop, Akku, Energie, Strom sparen, Indizierung anhalten</translation>
    </message>
    <message>
        <source>Read text in scanned pages and images</source>
        <translation>Text in gescannten Seiten und Bildern lesen</translation>
    </message>
    <message>
        <source>Text recognition</source>
        <translation>Texterkennung</translation>
    </message>
    <message>
        <source>OCR, scans, photos, screenshots, pictures</source>
        <translation>OCR, Scans, Fotos, Bildschirmfotos, Bilder</translation>
    </message>
    <message>
        <source>Pictures are read when everything else is searchable.</source>
        <translation>Bilder werden gelesen, wenn alles andere durchsuchbar ist.</translation>
    </message>
    <message>
        <source>Many pictures</source>
        <translation>Viele Bilder</translation>
    </message>
    <message>
        <source>Read them</source>
        <translation>Lesen</translation>
    </message>
    <message>
        <source>Let them wait</source>
        <translation>Warten lassen</translation>
    </message>
    <message>
        <source>Also search parts of long passages</source>
        <translation>Auch Teile langer Textstellen durchsuchen</translation>
    </message>
    <message>
        <source>Fine-grained search</source>
        <translation>Feinere Suche</translation>
    </message>
    <message>
        <source>details, sliding windows, overlap, disk space, precision</source>
        <translation>Einzelheiten, Überlappung, Speicherplatz, Genauigkeit</translation>
    </message>
    <message>
        <source>Finds details in long passages that a search by meaning would miss. Indexing takes about twice as long, and the library about 10% more disk space. Takes effect at once: turning it on indexes long passages in the background, turning it off removes that data.</source>
        <translation>Findet Einzelheiten in langen Textstellen, die eine Suche nach Bedeutung übersehen würde. Die Indizierung dauert etwa doppelt so lange, und die Bibliothek braucht etwa 10 % mehr Platz. Gilt sofort: Einschalten indiziert lange Textstellen im Hintergrund, Ausschalten entfernt diese Daten.</translation>
    </message>
    <message>
        <source>Server address</source>
        <translation>Serveradresse</translation>
    </message>
    <message>
        <source>speech to text, whisper, URL, host, recordings</source>
        <translation>Sprache zu Text, Whisper, URL, Host, Aufnahmen</translation>
    </message>
    <message>
        <source>Speech model</source>
        <translation>Sprachmodell für Aufnahmen</translation>
    </message>
    <message>
        <source>whisper model, speech recognition, test</source>
        <translation>Whisper-Modell, Spracherkennung, testen</translation>
    </message>
    <message>
        <source>Kind of server</source>
        <translation>Art des Servers</translation>
    </message>
    <message>
        <source>API, protocol, whisper</source>
        <translation>API, Protokoll, Whisper</translation>
    </message>
    <message>
        <source>OpenAI-compatible</source>
        <translation>OpenAI-kompatibel</translation>
    </message>
    <message>
        <source>Spoken language</source>
        <translation>Gesprochene Sprache</translation>
    </message>
    <message>
        <source>language of speech, recordings, accent</source>
        <translation>Sprache der Rede, Aufnahmen, Akzent</translation>
    </message>
    <message>
        <source>A code such as de or en.</source>
        <translation>Ein Kürzel wie de oder en.</translation>
    </message>
    <message>
        <source>Detected by the server</source>
        <translation>Erkennt der Server</translation>
    </message>
    <message>
        <source>Largest request</source>
        <translation>Größte Anfrage</translation>
    </message>
    <message>
        <source>upload limit, size of recordings, long recordings</source>
        <translation>Grenze beim Hochladen, Größe der Aufnahmen, lange Aufnahmen</translation>
    </message>
    <message>
        <source>WAV files are sent in pieces. Larger files of other formats are skipped with the reason.</source>
        <translation>WAV-Dateien werden in Stücken gesendet. Größere Dateien anderer Formate werden mit Begründung übersprungen.</translation>
    </message>
    <message>
        <source>Any size</source>
        <translation>Beliebig groß</translation>
    </message>
    <message>
        <source>Send my recordings to this server</source>
        <translation>Meine Aufnahmen an diesen Server senden</translation>
    </message>
    <message>
        <source>Consent</source>
        <translation>Einwilligung</translation>
    </message>
    <message>
        <source>permission, allow, upload recordings, privacy</source>
        <translation>Erlaubnis, erlauben, Aufnahmen hochladen, Datenschutz</translation>
    </message>
    <message>
        <source>how many passages, context, number of sources, cost, speed, top k, tokens</source>
        <translation>wie viele Textstellen, Kontext, Anzahl der Quellen, Kosten, Tempo, Token</translation>
    </message>
    <message>
        <source>How much of your documents is sent with a question. Fast: about four pages. Balanced: up to a quarter of what the model can read, less for a slow one. Thorough: up to half of it; answers take longer and cost more.</source>
        <translation>Wie viel Ihrer Dokumente mit einer Frage gesendet wird. Schnell: etwa vier Seiten. Ausgewogen: bis zu einem Viertel dessen, was das Modell lesen kann, bei einem langsamen weniger. Gründlich: bis zur Hälfte; Antworten dauern länger und kosten mehr.</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>Thorough</source>
        <translation>Gründlich</translation>
    </message>
    <message>
        <source>Balance between words and meaning</source>
        <translation>Gewicht von Wörtern und Bedeutung</translation>
    </message>
    <message>
        <source>Follow-up questions</source>
        <translation>Anschlussfragen</translation>
    </message>
    <message>
        <source>next question, conversation, same sources, search again</source>
        <translation>nächste Frage, Gespräch, gleiche Quellen, erneut suchen</translation>
    </message>
    <message>
        <source>Where the sources of a follow-up question come from. If you use a model, it first rewrites the question so that it makes sense on its own.</source>
        <translation>Woher die Quellen einer Anschlussfrage kommen. Mit einem Modell wird die Frage zuerst so umformuliert, dass sie für sich verständlich ist.</translation>
    </message>
    <message>
        <source>Search again</source>
        <translation>Neu suchen</translation>
    </message>
    <message>
        <source>Keep the sources</source>
        <translation>Quellen behalten</translation>
    </message>
    <message>
        <source>Both</source>
        <translation>Beides</translation>
    </message>
    <message>
        <source>Check each sentence against the sources</source>
        <translation>Jeden Satz mit den Quellen vergleichen</translation>
    </message>
    <message>
        <source>Checks</source>
        <translation>Prüfungen</translation>
    </message>
    <message>
        <source>verify, proof, badges, fact check, citations, correct, trust, hallucination, wrong answers, made up, unproven</source>
        <translation>prüfen, Beleg, Abzeichen, Faktencheck, Zitate, richtig, Vertrauen, Halluzination, falsche Antworten, erfunden, unbelegt</translation>
    </message>
    <message>
        <source>Each sentence gets a badge. The check runs on this computer and compares words and numbers: it is a hint, not a proof.</source>
        <translation>Jeder Satz erhält ein Zeichen. Die Prüfung läuft auf diesem Computer und vergleicht Wörter und Zahlen: Sie ist ein Hinweis, kein Beweis.</translation>
    </message>
    <message>
        <source>Also check with the model</source>
        <translation>Auch mit dem Modell prüfen</translation>
    </message>
    <message>
        <source>With the model</source>
        <translation>Mit dem Modell</translation>
    </message>
    <message>
        <source>second opinion, judge, verify, proofread</source>
        <translation>zweite Meinung, beurteilen, nachprüfen, gegenlesen</translation>
    </message>
    <message>
        <source>A model that is measured to judge well reads the sentences that words leave open, and says in one sentence what agrees and what differs: one request for each answer. Online services are asked only after you agreed.</source>
        <translation>Ein Modell, das nachweislich gut urteilt, liest die Sätze, die ein Vergleich der Wörter offen lässt, und sagt in einem Satz, was übereinstimmt und was abweicht: eine Anfrage je Antwort. Online-Dienste werden erst gefragt, wenn Sie zugestimmt haben.</translation>
    </message>
    <message>
        <source>Models nearby</source>
        <translation>Modelle in der Nähe</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>Immer</translation>
    </message>
    <message>
        <source>Suggest follow-up questions</source>
        <translation>Anschlussfragen vorschlagen</translation>
    </message>
    <message>
        <source>Suggestions</source>
        <translation>Vorschläge</translation>
    </message>
    <message>
        <source>what to ask next, ideas</source>
        <translation>was als Nächstes fragen, Ideen</translation>
    </message>
    <message>
        <source>Takes one short request after each answer. Without a model, headings are suggested.</source>
        <translation>Braucht eine kurze Anfrage nach jeder Antwort. Ohne Modell werden Überschriften vorgeschlagen.</translation>
    </message>
    <message>
        <source>Read few files in full when passages don&apos;t answer</source>
        <translation>Wenige Dateien ganz lesen, wenn Textstellen nicht antworten</translation>
    </message>
    <message>
        <source>whole files, full text, missed</source>
        <translation>ganze Dateien, Volltext, übersehen</translation>
    </message>
    <message>
        <source>Where a question may find at most 25 files. Their text takes up to twelve requests to the model.</source>
        <translation>Wo eine Frage höchstens 25 Dateien finden kann. Ihr Text braucht bis zu zwölf Anfragen an das Modell.</translation>
    </message>
    <message>
        <source>remember, learning, history, examples, personalise, likes</source>
        <translation>merken, lernen, Verlauf, Beispiele, anpassen, Bewertungen</translation>
    </message>
    <message>
        <source>Shows the model up to three earlier answers to similar questions, best rated first, so that it matches the style you like. When off, new answers are not remembered.</source>
        <translation>Zeigt dem Modell bis zu drei frühere Antworten auf ähnliche Fragen, am besten bewertete zuerst, damit es den Stil trifft, den Sie mögen. Ist dies aus, werden neue Antworten nicht gemerkt.</translation>
    </message>
    <message>
        <source>Store new chats</source>
        <translation>Neue Chats speichern</translation>
    </message>
    <message>
        <source>stop remembering chats, save chats, chat history, incognito, private chat, temporary chat, forget my questions, don&apos;t save</source>
        <translation>Chats nicht mehr merken, Chats speichern, Chatverlauf, inkognito, privater Chat, temporärer Chat, meine Fragen vergessen, nicht speichern</translation>
    </message>
    <message>
        <source>When off, a new chat is kept in memory only: it ends when you quit the app or delete it, and nothing is learned from it. Chats that are stored already stay until you delete them.</source>
        <translation>Ausgeschaltet bleibt ein neuer Chat nur im Arbeitsspeicher: Er endet, wenn Sie die App beenden oder ihn löschen, und nichts wird aus ihm gelernt. Schon gespeicherte Chats bleiben, bis Sie sie löschen.</translation>
    </message>
    <message>
        <source>Language of answers</source>
        <translation>Sprache der Antworten</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>reply in German, translate, answer in another language</source>
        <translation>auf Deutsch antworten, übersetzen, in anderer Sprache antworten</translation>
    </message>
    <message>
        <source>Choose a language or enter one: for what a model writes and what the app says in answers. Quotes keep the language of their file. A model&apos;s answer in another language than its sources can&apos;t be checked.</source>
        <translation>Wählen Sie eine Sprache oder geben Sie eine ein: für das, was ein Modell schreibt und was die App in Antworten sagt. Zitate bleiben in der Sprache ihrer Datei. Die Antwort eines Modells in einer anderen Sprache als ihre Quellen lässt sich nicht prüfen.</translation>
    </message>
    <message>
        <source>Same as the question</source>
        <translation>Wie die Frage</translation>
    </message>
    <message>
        <source>Length of answers</source>
        <translation>Länge der Antworten</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>shorter, longer, short answers, long answers, brief, detailed</source>
        <translation>kürzer, länger, kurze Antworten, lange Antworten, knapp, ausführlich</translation>
    </message>
    <message>
        <source>Brief</source>
        <translation>Knapp</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>Normal</translation>
    </message>
    <message>
        <source>Detailed</source>
        <translation>Ausführlich</translation>
    </message>
    <message>
        <source>Tone of answers</source>
        <translation>Ton der Antworten</translation>
    </message>
    <message>
        <source>Tone</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>style, formal, friendly, voice, wording, how answers sound</source>
        <translation>Stil, förmlich, freundlich, Wortwahl, wie Antworten klingen</translation>
    </message>
    <message>
        <source>Choose a tone or describe one. Excerpts always keep the wording of the documents.</source>
        <translation>Wählen Sie einen Ton, oder beschreiben Sie einen. Auszüge behalten immer den Wortlaut der Dokumente.</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>Standard</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Farbschema</translation>
    </message>
    <message>
        <source>dark mode, light mode, night, colours, brightness</source>
        <translation>dunkler Modus, Dunkelmodus, heller Modus, Nacht, Farben, Helligkeit</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>Wie im System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>Textgröße</translation>
    </message>
    <message>
        <source>font, zoom, larger letters, bigger, small print, scaling</source>
        <translation>Schrift, Schriftgröße, Zoom, größere Buchstaben, Skalierung</translation>
    </message>
    <message>
        <source>Ctrl and + or − change it everywhere in the window, Ctrl and 0 resets it.</source>
        <translation>Strg und + oder − ändern sie überall im Fenster, Strg und 0 setzt sie zurück.</translation>
    </message>
    <message>
        <source>German, English, translation, menus, language of the window</source>
        <translation>Deutsch, Englisch, Übersetzung, Menüs, Sprache des Fensters</translation>
    </message>
    <message>
        <source>The language of the window. For that of answers see the page Answers.</source>
        <translation>Die Sprache des Fensters. Die der Antworten steht auf der Seite „Antworten“.</translation>
    </message>
    <message>
        <source>Closing the window</source>
        <translation>Schließen des Fensters</translation>
    </message>
    <message>
        <source>quit, exit, tray, background, minimize</source>
        <translation>beenden, schließen, Infobereich, Hintergrund, minimieren</translation>
    </message>
    <message>
        <source>While it runs, your folders are kept up to date and the quick ask opens at once.</source>
        <translation>Solange sie läuft, bleiben Ihre Ordner aktuell, und die Schnellfrage öffnet sich sofort.</translation>
    </message>
    <message>
        <source>Start at login, in the background</source>
        <translation>Bei der Anmeldung im Hintergrund starten</translation>
    </message>
    <message>
        <source>Login</source>
        <translation>Anmeldung</translation>
    </message>
    <message>
        <source>autostart, startup, boot, start with the computer</source>
        <translation>Autostart, Systemstart, hochfahren, mit dem Computer starten</translation>
    </message>
    <message>
        <source>Show notifications</source>
        <translation>Benachrichtigungen zeigen</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>Benachrichtigungen</translation>
    </message>
    <message>
        <source>alerts, messages, popups, do not disturb</source>
        <translation>Hinweise, Meldungen, Popups, nicht stören</translation>
    </message>
    <message>
        <source>When the first indexing is done, a folder goes offline, something needs you, or an answer is ready while you look elsewhere.</source>
        <translation>Wenn die erste Indizierung fertig ist, ein Ordner nicht erreichbar ist, etwas Sie braucht oder eine Antwort fertig ist, während Sie anderswo sind.</translation>
    </message>
    <message>
        <source>Hotkey of the quick ask</source>
        <translation>Taste der Schnellfrage</translation>
    </message>
    <message>
        <source>shortcut, global hotkey, key combination, spotlight, popup</source>
        <translation>Tastenkürzel, Hotkey, Tastenkombination, Popup</translation>
    </message>
    <message>
        <source>Hotkey to ask about selected text</source>
        <translation>Taste für Fragen zum ausgewählten Text</translation>
    </message>
    <message>
        <source>With selected text</source>
        <translation>Mit ausgewähltem Text</translation>
    </message>
    <message>
        <source>shortcut, selection, highlighted text, clipboard, other program</source>
        <translation>Tastenkürzel, Auswahl, markierter Text, Zwischenablage, anderes Programm</translation>
    </message>
    <message>
        <source>Record what the app does</source>
        <translation>Aufzeichnen, was die App tut</translation>
    </message>
    <message>
        <source>Event log</source>
        <translation>Ereignisprotokoll</translation>
    </message>
    <message>
        <source>history, tracking, telemetry, logging, activity, stop recording</source>
        <translation>Verlauf, Nachverfolgung, Telemetrie, Protokoll, Aktivität, Aufzeichnung beenden</translation>
    </message>
    <message>
        <source>Questions by their chat, requests to endpoints, changes of the index and errors, on this computer only, for 90 days at most. No text of documents, no answers, no keys. See Data and health › Activity.</source>
        <translation>Fragen mit ihrem Chat, Anfragen an Endpunkte, Änderungen am Index und Fehler, nur auf diesem Computer, höchstens 90 Tage lang. Kein Text aus Dokumenten, keine Antworten, keine Schlüssel. Siehe Daten und Zustand › Aktivität.</translation>
    </message>
    <message>
        <source>Web origins that may use every token</source>
        <translation>Web-Adressen, deren Seiten jedes Token benutzen dürfen</translation>
    </message>
    <message>
        <source>Without documents. Off, only tokens that name a model may ask them.</source>
        <translation>Ohne Dokumente. Ausgeschaltet dürfen das nur Tokens, die ein Modell nennen.</translation>
    </message>
    <message>
        <source>For up to 90 days, with who asked when. Off, only their lengths are kept.</source>
        <translation>Bis zu 90 Tage lang, mit Zeit und Token. Ausgeschaltet werden nur ihre Längen behalten.</translation>
    </message>
    <message>
        <source>Of installed Python packages, separated by commas, in the order that requests pass them; NAME=collection:* is for collections only. They may do anything: name those that you trust. When one can&apos;t be loaded, nothing is served.</source>
        <translation>Aus installierten Python-Paketen, durch Kommas getrennt, in der Reihenfolge, in der Anfragen sie durchlaufen; NAME=collection:* gilt nur für Sammlungen. Sie dürfen alles: Nennen Sie nur solche, denen Sie vertrauen. Lässt sich einer nicht laden, wird nichts beantwortet.</translation>
    </message>
    <message>
        <source>Address behind a proxy</source>
        <translation>Adresse hinter einem Proxy</translation>
    </message>
    <message>
        <source>Provider of logins (OpenID Connect)</source>
        <translation>Anbieter der Anmeldung (OpenID Connect)</translation>
    </message>
    <message>
        <source>Client id of this server at the provider of logins</source>
        <translation>Client-ID dieses Servers beim Anbieter der Anmeldung</translation>
    </message>
    <message>
        <source>File with its client secret</source>
        <translation>Datei mit seinem Client-Geheimnis</translation>
    </message>
    <message>
        <source>Spent today: {spent}</source>
        <translation>Heute ausgegeben: {spent}</translation>
    </message>
    <message>
        <source>No model server answers at the usual addresses on this computer. To get a free one, install Ollama (ollama.com), enter “ollama pull llama3.2” in a terminal, and search again.</source>
        <translation>Unter den üblichen Adressen dieses Computers antwortet kein Modell-Server. Einen kostenlosen bekommen Sie so: Ollama installieren (ollama.com), in einem Terminal „ollama pull llama3.2“ eingeben und noch einmal suchen.</translation>
    </message>
    <message>
        <source>Use excerpts only</source>
        <translation>Nur Auszüge verwenden</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>Modell auswählen…</translation>
    </message>
    <message>
        <source>provider, service, switch model, add, remove, another server, excerpts only</source>
        <translation>Anbieter, Dienst, Modell wechseln, hinzufügen, entfernen, anderer Server, nur Auszüge</translation>
    </message>
    <message>
        <source>In this app</source>
        <translation>In dieser App</translation>
    </message>
    <message>
        <source>download a model, GGUF, llama, local, offline, install, run here</source>
        <translation>Modell herunterladen, GGUF, llama, lokal, offline, installieren, hier ausführen</translation>
    </message>
    <message>
        <source>local, offline, Ollama, LM Studio, llama.cpp, own computer, private</source>
        <translation>lokal, offline, Ollama, LM Studio, llama.cpp, eigener Computer, privat</translation>
    </message>
    <message>
        <source>cloud, OpenAI, ChatGPT, Claude, Mistral, provider, internet</source>
        <translation>Cloud, OpenAI, ChatGPT, Claude, Mistral, Anbieter, Internet</translation>
    </message>
    <message>
        <source>URL, host, port, base URL, link</source>
        <translation>URL, Host, Port, Basis-URL, Link</translation>
    </message>
    <message>
        <source>password, token, secret, credentials, sign in</source>
        <translation>Passwort, Token, Geheimnis, Zugangsdaten, anmelden</translation>
    </message>
    <message>
        <source>AI, LLM, ChatGPT, which model, test the connection</source>
        <translation>KI, LLM, ChatGPT, welches Modell, Verbindung testen</translation>
    </message>
    <message>
        <source>what the model can, images, vision, tools, weak model</source>
        <translation>was das Modell kann, Bilder, Werkzeuge, schwaches Modell</translation>
    </message>
    <message>
        <source>The helper model does small background tasks: it completes follow-up questions before the search, and suggests what to ask next. A small, fast model is enough.</source>
        <translation>Das Hilfsmodell übernimmt kleine Aufgaben im Hintergrund: Es vervollständigt Anschlussfragen vor der Suche und schlägt vor, was Sie als Nächstes fragen können. Ein kleines, schnelles Modell genügt.</translation>
    </message>
    <message>
        <source>Same as for answers</source>
        <translation>Wie für Antworten</translation>
    </message>
    <message>
        <source>Helper model</source>
        <translation>Hilfsmodell</translation>
    </message>
    <message>
        <source>Helper endpoint</source>
        <translation>Endpunkt des Hilfsmodells</translation>
    </message>
    <message>
        <source>Choose or enter a model</source>
        <translation>Modell wählen oder eingeben</translation>
    </message>
    <message>
        <source>helper, small model, background tasks, cheap model, fast model</source>
        <translation>Helfer, kleines Modell, Hintergrundaufgaben, günstiges Modell, schnelles Modell</translation>
    </message>
    <message>
        <source>No model chosen yet. The model for answers is used.</source>
        <translation>Noch kein Modell gewählt. Das Modell für Antworten wird verwendet.</translation>
    </message>
    <message>
        <source>Enter the address first. Each address has its own key.</source>
        <translation>Geben Sie zuerst die Adresse ein. Jede Adresse hat ihren eigenen Schlüssel.</translation>
    </message>
    <message>
        <source>No key is saved for this address. Servers on your own computer usually need none.</source>
        <translation>Für diese Adresse ist kein Schlüssel gespeichert. Server auf Ihrem eigenen Computer brauchen meist keinen.</translation>
    </message>
    <message>
        <source>A key is saved for this address.</source>
        <translation>Für diese Adresse ist ein Schlüssel gespeichert.</translation>
    </message>
    <message>
        <source>Saved in this computer&apos;s keyring.</source>
        <translation>Im Schlüsselbund dieses Computers gespeichert.</translation>
    </message>
    <message>
        <source>Saved until you close the app, because no keyring is available on this computer.</source>
        <translation>Bis zum Schließen der App gespeichert, weil auf diesem Computer kein Schlüsselbund verfügbar ist.</translation>
    </message>
    <message>
        <source>Remove key</source>
        <translation>Schlüssel entfernen</translation>
    </message>
    <message>
        <source>The key was removed.</source>
        <translation>Der Schlüssel wurde entfernt.</translation>
    </message>
    <message>
        <source>Enter a new key</source>
        <translation>Neuen Schlüssel eingeben</translation>
    </message>
    <message>
        <source>Enter a key</source>
        <translation>Schlüssel eingeben</translation>
    </message>
    <message>
        <source>Find running servers</source>
        <translation>Laufende Server suchen</translation>
    </message>
    <message>
        <source>Use {value} and test it</source>
        <translation>{value} verwenden und testen</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>Suche läuft…</translation>
    </message>
    <message>
        <source>The folder of an ONNX model in sentence-transformers format, or an endpoint such as http://localhost:11434/v1#nomic-embed-text.</source>
        <translation>Der Ordner eines ONNX-Modells im Format von sentence-transformers oder ein Endpunkt wie http://localhost:11434/v1#nomic-embed-text.</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>Durchsuchen…</translation>
    </message>
    <message>
        <source>Choose a model folder</source>
        <translation>Modellordner wählen</translation>
    </message>
    <message>
        <source>Measuring. This may take a few minutes; your questions take priority.</source>
        <translation>Messung läuft. Das kann einige Minuten dauern; Ihre Fragen haben Vorrang.</translation>
    </message>
    <message>
        <source>Measures the context size and features of the model with about 17 short requests, some 630 words in all. Where its server doesn&apos;t state what it reads, filler words follow: one request of 16,384 tokens to a remote endpoint, some 60,000 tokens in all to one nearby.</source>
        <translation>Misst Kontextgröße und Fähigkeiten des Modells mit etwa 17 kurzen Anfragen, zusammen rund 630 Wörtern. Gibt sein Server nicht an, was es liest, folgen Füllwörter: eine Anfrage mit 16.384 Token an einen entfernten Endpunkt, zusammen rund 60.000 Token an einen in der Nähe.</translation>
    </message>
    <message>
        <source>Capabilities of the model</source>
        <translation>Fähigkeiten des Modells</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Messen</translation>
    </message>
    <message>
        <source>Not measured yet. It is measured when it is first used.</source>
        <translation>Noch nicht gemessen. Das geschieht bei der ersten Verwendung.</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Erneut messen</translation>
    </message>
    <message>
        <source>At the price of the endpoint the long one is {cost:,.2g}.</source>
        <translation>Zum Preis des Endpunkts kostet die lange {cost:,.2g}.</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>Misst…</translation>
    </message>
    <message>
        <source>Nothing installed yet? “Find running servers” tells how to get a free model.</source>
        <translation>Noch nichts installiert? „Laufende Server suchen“ sagt, wie Sie ein kostenloses Modell bekommen.</translation>
    </message>
    <message>
        <source>Choose a service…</source>
        <translation>Dienst wählen…</translation>
    </message>
    <message>
        <source>Get a key…</source>
        <translation>Schlüssel besorgen…</translation>
    </message>
    <message>
        <source>Open the service&apos;s page for keys in your browser</source>
        <translation>Die Seite des Dienstes für Schlüssel im Browser öffnen</translation>
    </message>
    <message>
        <source>No folder yet. Add one to ask about its files.</source>
        <translation>Noch kein Ordner. Fügen Sie einen hinzu, um nach seinen Dateien zu fragen.</translation>
    </message>
    <message>
        <source>Looking for files. What is found here grows by itself.</source>
        <translation>Dateien werden gesucht. Was hier zu finden ist, wird von selbst mehr.</translation>
    </message>
    <message>
        <source>Found by their words so far; the search by meaning is being prepared.</source>
        <translation>Bisher nach Wörtern zu finden; die Suche nach Bedeutung wird vorbereitet.</translation>
    </message>
    <message>
        <source>Indexing is paused. New and changed files are not found.</source>
        <translation>Die Indizierung pausiert. Neue und geänderte Dateien werden nicht gefunden.</translation>
    </message>
    <message>
        <source>{files_done:,} of {count_of}</source>
        <translation>{files_done:,} von {count_of}</translation>
    </message>
    <message>
        <source>{files} read. The others are not found yet.</source>
        <translation>{files} gelesen. Die übrigen werden noch nicht gefunden.</translation>
    </message>
    <message>
        <source>The password is remembered until you close the app.</source>
        <translation>Das Passwort bleibt gemerkt, bis Sie die App schließen.</translation>
    </message>
    <message>
        <source>No keyring is available on this computer.</source>
        <translation>Auf diesem Computer ist kein Schlüsselbund verfügbar.</translation>
    </message>
    <message>
        <source>The text of the file is then in the library&apos;s index, which is not encrypted. Forget the password to remove it from there.</source>
        <translation>Der Text der Datei steht dann im Index der Bibliothek, der nicht verschlüsselt ist. Vergessen Sie das Passwort, um ihn dort zu entfernen.</translation>
    </message>
    <message>
        <source>If the file changes after that, you are asked again.</source>
        <translation>Wenn sich die Datei danach ändert, werden Sie erneut gefragt.</translation>
    </message>
    <message>
        <source>Enter password</source>
        <translation>Passwort eingeben</translation>
    </message>
    <message>
        <source>Password</source>
        <translation>Passwort</translation>
    </message>
    <message>
        <source>Show password</source>
        <translation>Passwort anzeigen</translation>
    </message>
    <message>
        <source>Remember it until the app closes</source>
        <translation>Merken, bis die App geschlossen wird</translation>
    </message>
    <message>
        <source>Keep it in this computer&apos;s keyring</source>
        <translation>Im Schlüsselbund dieses Computers ablegen</translation>
    </message>
    <message>
        <source>No notes yet.</source>
        <translation>Noch keine Notizen.</translation>
    </message>
    <message>
        <source>Refresh…</source>
        <translation>Auffrischen…</translation>
    </message>
    <message>
        <source>Read the note, with links to its sources</source>
        <translation>Die Notiz lesen, mit Links zu ihren Quellen</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>The library has not read this note yet.</source>
        <translation>Die Bibliothek hat diese Notiz noch nicht gelesen.</translation>
    </message>
    <message>
        <source>Stopped. Nothing was written.</source>
        <translation>Angehalten. Nichts wurde geschrieben.</translation>
    </message>
    <message>
        <source>The note says the same as before.</source>
        <translation>Die Notiz besagt dasselbe wie zuvor.</translation>
    </message>
    <message>
        <source>Written: {path}</source>
        <translation>Geschrieben: {path}</translation>
    </message>
    <message>
        <source>Writing: {heading}…</source>
        <translation>Schreibt: {heading}…</translation>
    </message>
    <message>
        <source>other</source>
        <translation>andere</translation>
    </message>
    <message>
        <source>others</source>
        <translation>andere</translation>
    </message>
    <message>
        <source>Try it on all encrypted files in this folder ({files} now)</source>
        <translation>Bei allen verschlüsselten Dateien in diesem Ordner versuchen (jetzt {files})</translation>
    </message>
    <message>
        <source>Opening…</source>
        <translation>Wird geöffnet…</translation>
    </message>
    <message>
        <source>Same as in the chat</source>
        <translation>Wie im Chat</translation>
    </message>
    <message>
        <source>Documents only</source>
        <translation>Nur Dokumente</translation>
    </message>
    <message>
        <source>Chats, poems and opinions are declined without a model. An answer that stands on no document is not shown.</source>
        <translation>Plaudereien, Gedichte und Meinungen werden ohne Modell abgelehnt. Eine Antwort, die sich auf kein Dokument stützt, wird nicht gezeigt.</translation>
    </message>
    <message>
        <source>Polite refusal</source>
        <translation>Höfliche Ablehnung</translation>
    </message>
    <message>
        <source>Politics, religion, and advice on health, law and money are politely declined.</source>
        <translation>Politik, Religion sowie Rat zu Gesundheit, Recht und Geld werden höflich abgelehnt.</translation>
    </message>
    <message>
        <source>Checked answers</source>
        <translation>Geprüfte Antworten</translation>
    </message>
    <message>
        <source>What an answer states is shown only after it was found in the sources. An answer with anything unproven is taken back.</source>
        <translation>Was eine Antwort aussagt, wird erst gezeigt, wenn es in den Quellen gefunden wurde. Eine Antwort mit Unbelegtem wird zurückgenommen.</translation>
    </message>
    <message>
        <source>Commands with consent</source>
        <translation>Befehle mit Zustimmung</translation>
    </message>
    <message>
        <source>Asked for, it saves an answer as a note, adds a folder, or runs a program that you registered: each after you agreed to exactly that.</source>
        <translation>Auf Wunsch speichert es eine Antwort als Notiz, fügt einen Ordner hinzu oder führt ein Programm aus, das Sie eingetragen haben: jedes Mal erst, nachdem Sie genau dem zugestimmt haben.</translation>
    </message>
    <message>
        <source>Hide personal data</source>
        <translation>Persönliche Daten verbergen</translation>
    </message>
    <message>
        <source>Mail addresses, telephone, card and account numbers are covered before you see them.</source>
        <translation>Mailadressen, Telefon-, Karten- und Kontonummern werden verdeckt, bevor Sie sie sehen.</translation>
    </message>
    <message>
        <source>Also the model&apos;s own knowledge</source>
        <translation>Auch das Wissen des Modells</translation>
    </message>
    <message>
        <source>Added to the app&apos;s built-in rules, which always apply: answers must be based on sources, and instructions inside documents are ignored.</source>
        <translation>Ergänzt die eingebauten Regeln der App, die immer gelten: Antworten müssen auf Quellen beruhen, und Anweisungen in Dokumenten werden nicht befolgt.</translation>
    </message>
    <message>
        <source>If your documents have nothing on a question, the first option says so. The second lets the model answer from its own knowledge, and labels the answer clearly.</source>
        <translation>Wenn Ihre Dokumente nichts zu einer Frage enthalten, sagt die erste Möglichkeit das. Die zweite lässt das Modell aus eigenem Wissen antworten und kennzeichnet die Antwort deutlich.</translation>
    </message>
    <message>
        <source>If none is checked, and it has no documents of its own, the assistant uses all documents.</source>
        <translation>Wenn keine gewählt ist und er keine eigenen Dokumente hat, verwendet der Assistent alle Dokumente.</translation>
    </message>
    <message>
        <source>Files, folders and links for this assistant. They are indexed into a collection of its own, which is removed from the library with the assistant. Files are never touched.</source>
        <translation>Dateien, Ordner und Links für diesen Assistenten. Sie werden in einer eigenen Sammlung indiziert, die mit dem Assistenten aus der Bibliothek entfernt wird. Dateien bleiben immer unberührt.</translation>
    </message>
    <message>
        <source>Applied to every question. Examples: type:pdf, folder:taxes, after:2024, -word.</source>
        <translation>Gilt für jede Frage. Beispiele: type:pdf, folder:steuern, after:2024, -wort.</translation>
    </message>
    <message>
        <source>New assistant</source>
        <translation>Neuer Assistent</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>The endpoint you chose for answers.</source>
        <translation>Der Endpunkt, den Sie für Antworten gewählt haben.</translation>
    </message>
    <message>
        <source>Your question, the chat so far, the passages found for it, attached files and pictures, earlier answers as examples, the instructions of the assistant, your wishes for style, and the key of the endpoint.</source>
        <translation>Ihre Frage, der bisherige Chat, die dazu gefundenen Textstellen, angehängte Dateien und Bilder, frühere Antworten als Beispiele, die Anweisungen des Assistenten, Ihre Wünsche zum Stil und der Schlüssel des Endpunkts.</translation>
    </message>
    <message>
        <source>When you ask a question.</source>
        <translation>Wenn Sie eine Frage stellen.</translation>
    </message>
    <message>
        <source>Remove the endpoint, or choose excerpts above the chat.</source>
        <translation>Entfernen Sie den Endpunkt, oder wählen Sie über dem Chat Auszüge.</translation>
    </message>
    <message>
        <source>Background tasks</source>
        <translation>Aufgaben im Hintergrund</translation>
    </message>
    <message>
        <source>The endpoint of the helper model, or else the one for answers.</source>
        <translation>Der Endpunkt des Hilfsmodells, sonst der für Antworten.</translation>
    </message>
    <message>
        <source>Short requests with parts of your question, the chat, the sources and the answer: to rewrite a follow-up question, suggest questions, query a table, and, where you chose it, check sentences.</source>
        <translation>Kurze Anfragen mit Teilen Ihrer Frage, des Chats, der Quellen und der Antwort: um eine Anschlussfrage umzuformulieren, Fragen vorzuschlagen, eine Tabelle abzufragen und, wo Sie es gewählt haben, Sätze zu prüfen.</translation>
    </message>
    <message>
        <source>Before and after an answer of a model.</source>
        <translation>Vor und nach der Antwort eines Modells.</translation>
    </message>
    <message>
        <source>Suggestions and checks with the model are switched under Answers.</source>
        <translation>Vorschläge und Prüfungen mit dem Modell werden unter Antworten geschaltet.</translation>
    </message>
    <message>
        <source>Assistants with a model of their own</source>
        <translation>Assistenten mit eigenem Modell</translation>
    </message>
    <message>
        <source>The endpoint that an assistant names, if it is one of yours.</source>
        <translation>Der Endpunkt, den ein Assistent nennt, wenn er zu Ihren gehört.</translation>
    </message>
    <message>
        <source>The same as for answers.</source>
        <translation>Dasselbe wie für Antworten.</translation>
    </message>
    <message>
        <source>When you ask that assistant.</source>
        <translation>Wenn Sie diesen Assistenten fragen.</translation>
    </message>
    <message>
        <source>Choose another model for the assistant, or remove the endpoint.</source>
        <translation>Wählen Sie ein anderes Modell für den Assistenten, oder entfernen Sie den Endpunkt.</translation>
    </message>
    <message>
        <source>Measuring a model</source>
        <translation>Messen eines Modells</translation>
    </message>
    <message>
        <source>Each endpoint with a model in use.</source>
        <translation>Jeder Endpunkt mit einem verwendeten Modell.</translation>
    </message>
    <message>
        <source>Sample text of common words and a small red picture; none of your data.</source>
        <translation>Beispieltext aus häufigen Wörtern und ein kleines rotes Bild; nichts von Ihren Daten.</translation>
    </message>
    <message>
        <source>Once for each model, in the background, and again when you press Measure again.</source>
        <translation>Einmal für jedes Modell, im Hintergrund, und wieder, wenn Sie „Erneut messen“ drücken.</translation>
    </message>
    <message>
        <source>Remove the endpoint.</source>
        <translation>Entfernen Sie den Endpunkt.</translation>
    </message>
    <message>
        <source>Testing an endpoint</source>
        <translation>Testen eines Endpunkts</translation>
    </message>
    <message>
        <source>The endpoint in the form.</source>
        <translation>Der Endpunkt im Formular.</translation>
    </message>
    <message>
        <source>A request for its list of models and one sample question.</source>
        <translation>Eine Anfrage nach seiner Modellliste und eine Beispielfrage.</translation>
    </message>
    <message>
        <source>When you press Test, choose a helper model, or run desktop-rag doctor.</source>
        <translation>Wenn Sie „Testen“ drücken, ein Hilfsmodell wählen oder desktop-rag doctor ausführen.</translation>
    </message>
    <message>
        <source>It happens only on request.</source>
        <translation>Geschieht nur auf Verlangen.</translation>
    </message>
    <message>
        <source>“{model}” answered after {seconds:.1f} seconds.</source>
        <translation>„{model}“ hat nach {seconds:.1f} Sekunden geantwortet.</translation>
    </message>
    <message>
        <source>“{name}” needs {needed:.1f} GB of memory, and {free_bytes:.1f} GB are free.</source>
        <translation>„{name}“ braucht {needed:.1f} GB Arbeitsspeicher, und {free_bytes:.1f} GB sind frei.</translation>
    </message>
    <message>
        <source>Embeddings</source>
        <translation>Einbettungen</translation>
    </message>
    <message>
        <source>Empty the setting: desktop-rag settings set server.login_issuer &quot;&quot;.</source>
        <translation>Leeren Sie die Einstellung: desktop-rag settings set server.login_issuer &quot;&quot;.</translation>
    </message>
    <message>
        <source>Logins by OpenID Connect</source>
        <translation>Anmeldungen über OpenID Connect</translation>
    </message>
    <message>
        <source>The endpoint chosen as embedding model, for all documents or for a collection.</source>
        <translation>Der als Einbettungsmodell gewählte Endpunkt, für alle Dokumente oder für eine Sammlung.</translation>
    </message>
    <message>
        <source>The provider of logins that you named for the local server.</source>
        <translation>Der Anbieter der Anmeldung, den Sie für den lokalen Server genannt haben.</translation>
    </message>
    <message>
        <source>The text of all documents it embeds, your questions, and the key of the endpoint.</source>
        <translation>Der Text aller Dokumente, die er einbettet, Ihre Fragen und der Schlüssel des Endpunkts.</translation>
    </message>
    <message>
        <source>When a person logs in to the pages of the local server.</source>
        <translation>Wenn sich jemand an den Seiten des lokalen Servers anmeldet.</translation>
    </message>
    <message>
        <source>Which server asks, its client secret, and the code with which a person came back.</source>
        <translation>Welcher Server fragt, sein Client-Geheimnis und der Code, mit dem jemand zurückkam.</translation>
    </message>
    <message>
        <source>While documents are indexed, and when you ask or search.</source>
        <translation>Während Dokumente indiziert werden, und wenn Sie fragen oder suchen.</translation>
    </message>
    <message>
        <source>Choose the built-in model or a folder as embedding model.</source>
        <translation>Wählen Sie das eingebaute Modell oder einen Ordner als Einbettungsmodell.</translation>
    </message>
    <message>
        <source>The transcription server you chose.</source>
        <translation>Der Transkriptionsserver, den Sie gewählt haben.</translation>
    </message>
    <message>
        <source>Your recordings with their file names, and the key of the server.</source>
        <translation>Ihre Aufnahmen mit ihren Dateinamen und der Schlüssel des Servers.</translation>
    </message>
    <message>
        <source>While recordings are indexed, and when you press Test.</source>
        <translation>Während Aufnahmen indexiert werden und wenn Sie „Testen“ drücken.</translation>
    </message>
    <message>
        <source>Remove the address of the server.</source>
        <translation>Entfernen Sie die Adresse des Servers.</translation>
    </message>
    <message>
        <source>Web pages you added</source>
        <translation>Hinzugefügte Webseiten</translation>
    </message>
    <message>
        <source>The sites of your links, and public sites they redirect to; of the local network only hosts that a collection allows.</source>
        <translation>Die Websites Ihrer Links und öffentliche Websites, auf die sie weiterleiten; im lokalen Netz nur Rechner, die eine Sammlung erlaubt.</translation>
    </message>
    <message>
        <source>Requests for robots.txt, sitemaps and pages, with the name of the app; no cookies.</source>
        <translation>Anfragen nach robots.txt, Sitemaps und Seiten, mit dem Namen der App; keine Cookies.</translation>
    </message>
    <message>
        <source>When you add links, on their schedule, and when you refresh them.</source>
        <translation>Wenn Sie Links hinzufügen, nach ihrem Zeitplan und wenn Sie sie auffrischen.</translation>
    </message>
    <message>
        <source>Remove the links, or choose to fetch them only on request.</source>
        <translation>Entfernen Sie die Links, oder rufen Sie sie nur auf Verlangen ab.</translation>
    </message>
    <message>
        <source>Looking up host names</source>
        <translation>Nachschlagen von Rechnernamen</translation>
    </message>
    <message>
        <source>The name server of this computer.</source>
        <translation>Der Namensserver dieses Computers.</translation>
    </message>
    <message>
        <source>The host names of the addresses above; never those in your documents.</source>
        <translation>Die Rechnernamen der Adressen oben; nie die in Ihren Dokumenten.</translation>
    </message>
    <message>
        <source>Before a connection to one of them.</source>
        <translation>Vor einer Verbindung zu einem von ihnen.</translation>
    </message>
    <message>
        <source>Use numeric addresses, or none.</source>
        <translation>Verwenden Sie numerische Adressen, oder keine.</translation>
    </message>
    <message>
        <source>The proxy of this computer</source>
        <translation>Der Proxy dieses Computers</translation>
    </message>
    <message>
        <source>The proxy that the system or the environment names for an endpoint.</source>
        <translation>Der Proxy, den das System oder die Umgebung für einen Endpunkt nennt.</translation>
    </message>
    <message>
        <source>The address of the endpoint; for http:// addresses everything that is sent to it.</source>
        <translation>Die Adresse des Endpunkts; bei http://-Adressen alles, was an ihn gesendet wird.</translation>
    </message>
    <message>
        <source>With every request to an endpoint on another computer. Web pages are fetched without it.</source>
        <translation>Bei jeder Anfrage an einen Endpunkt auf einem anderen Computer. Webseiten werden ohne ihn abgerufen.</translation>
    </message>
    <message>
        <source>Change the proxy of the system, or name the endpoint in NO_PROXY.</source>
        <translation>Ändern Sie den Proxy des Systems, oder nennen Sie den Endpunkt in NO_PROXY.</translation>
    </message>
    <message>
        <source>Opening links and files</source>
        <translation>Öffnen von Links und Dateien</translation>
    </message>
    <message>
        <source>Your browser, or the program that your desktop uses for the file.</source>
        <translation>Ihr Browser oder das Programm, das Ihr Desktop für die Datei verwendet.</translation>
    </message>
    <message>
        <source>The address or the path, to that program, which may open connections of its own.</source>
        <translation>Die Adresse oder der Pfad, an dieses Programm, das eigene Verbindungen aufbauen kann.</translation>
    </message>
    <message>
        <source>When you click a link and confirm its address, or open a file.</source>
        <translation>Wenn Sie auf einen Link klicken und seine Adresse bestätigen, oder eine Datei öffnen.</translation>
    </message>
    <message>
        <source>Finding model servers</source>
        <translation>Suchen nach Modellservern</translation>
    </message>
    <message>
        <source>The usual ports of model servers on this computer.</source>
        <translation>Die üblichen Ports von Modellservern auf diesem Computer.</translation>
    </message>
    <message>
        <source>A request for the list of models, without a key.</source>
        <translation>Eine Anfrage nach der Modellliste, ohne Schlüssel.</translation>
    </message>
    <message>
        <source>When you press Find running servers.</source>
        <translation>Wenn Sie „Laufende Server suchen“ drücken.</translation>
    </message>
    <message>
        <source>The keyring</source>
        <translation>Der Schlüsselbund</translation>
    </message>
    <message>
        <source>The key store of the system; on Linux over D-Bus.</source>
        <translation>Der Schlüsselspeicher des Systems; unter Linux über D-Bus.</translation>
    </message>
    <message>
        <source>Keys of endpoints, passwords of files and of the shared library, and the secrets of the bot for Matrix rooms, when they are saved, read or removed.</source>
        <translation>Schlüssel von Endpunkten, Passwörter von Dateien und der gemeinsamen Bibliothek und die Geheimnisse des Bots für Matrix-Räume, wenn sie gespeichert, gelesen oder entfernt werden.</translation>
    </message>
    <message>
        <source>When an endpoint is used, an encrypted file is read, or a key or password is changed.</source>
        <translation>Wenn ein Endpunkt verwendet, eine verschlüsselte Datei gelesen oder ein Schlüssel oder Passwort geändert wird.</translation>
    </message>
    <message>
        <source>Without a keyring, keys and passwords are kept until the app ends.</source>
        <translation>Ohne Schlüsselbund werden Schlüssel und Passwörter aufbewahrt, bis die App endet.</translation>
    </message>
    <message>
        <source>The running app</source>
        <translation>Die laufende App</translation>
    </message>
    <message>
        <source>The open window, over a socket that only you can use.</source>
        <translation>Das offene Fenster, über einen Socket, den nur Sie verwenden können.</translation>
    </message>
    <message>
        <source>Commands such as ask or search, and their results.</source>
        <translation>Befehle wie ask oder search und ihre Ergebnisse.</translation>
    </message>
    <message>
        <source>When you use the command line or start the app again while the window is open.</source>
        <translation>Wenn Sie die Kommandozeile verwenden oder die App erneut starten, während das Fenster offen ist.</translation>
    </message>
    <message>
        <source>It is part of the app.</source>
        <translation>Gehört zur App.</translation>
    </message>
    <message>
        <source>The local server</source>
        <translation>Der lokale Server</translation>
    </message>
    <message>
        <source>Programs that ask with a token you made: on this computer, or wherever the address you chose can be reached from.</source>
        <translation>Programme, die mit einem von Ihnen erzeugten Token fragen: auf diesem Computer, oder von wo aus die von Ihnen gewählte Adresse erreichbar ist.</translation>
    </message>
    <message>
        <source>Answers with their passages, lists of documents and their texts, as the token allows.</source>
        <translation>Antworten mit ihren Textstellen, Listen von Dokumenten und deren Texte, soweit das Token es erlaubt.</translation>
    </message>
    <message>
        <source>When such a program asks. The server is off until you turn it on.</source>
        <translation>Wenn ein solches Programm fragt. Der Server ist aus, bis Sie ihn einschalten.</translation>
    </message>
    <message>
        <source>Turn it off, or revoke the token.</source>
        <translation>Schalten Sie ihn aus, oder widerrufen Sie das Token.</translation>
    </message>
    <message>
        <source>The library on a server</source>
        <translation>Die Bibliothek auf einem Server</translation>
    </message>
    <message>
        <source>The PostgreSQL server that you named in the settings file.</source>
        <translation>Der PostgreSQL-Server, den Sie in der Einstellungsdatei angegeben haben.</translation>
    </message>
    <message>
        <source>All that a library holds: texts of documents, passages, vectors, chats, and the words of your questions.</source>
        <translation>Alles, was eine Bibliothek enthält: Texte von Dokumenten, Textstellen, Vektoren, Chats und die Wörter Ihrer Fragen.</translation>
    </message>
    <message>
        <source>Whenever the library is read or changed. There is no server until you name one.</source>
        <translation>Immer wenn die Bibliothek gelesen oder geändert wird. Es gibt keinen Server, bis Sie einen angeben.</translation>
    </message>
    <message>
        <source>Remove `engine` under [store] from the settings file: the library is a file again.</source>
        <translation>Entfernen Sie `engine` unter [store] aus der Einstellungsdatei: Dann ist die Bibliothek wieder eine Datei.</translation>
    </message>
    <message>
        <source>The shared library</source>
        <translation>Die gemeinsame Bibliothek</translation>
    </message>
    <message>
        <source>The PostgreSQL server that you named as shared library.</source>
        <translation>Der PostgreSQL-Server, den Sie als gemeinsame Bibliothek angegeben haben.</translation>
    </message>
    <message>
        <source>The name of the role and its password. For each question that may find its documents: the words searched for, the vector of the question and the filters. No document of yours.</source>
        <translation>Der Name der Rolle und ihr Passwort. Bei jeder Frage, die ihre Dokumente finden kann: die gesuchten Wörter, der Vektor der Frage und die Filter. Kein Dokument von Ihnen.</translation>
    </message>
    <message>
        <source>When you press Test or Connect; once it is connected, at each question and once a minute.</source>
        <translation>Wenn Sie „Testen“ oder „Verbinden“ drücken; ist sie verbunden, bei jeder Frage und einmal in der Minute.</translation>
    </message>
    <message>
        <source>Press Disconnect.</source>
        <translation>Drücken Sie „Trennen“.</translation>
    </message>
    <message>
        <source>Actions of your own in rails</source>
        <translation>Eigene Aktionen in Leitplanken</translation>
    </message>
    <message>
        <source>Whatever the Python file you chose and confirmed contacts; the app&apos;s own contact nobody.</source>
        <translation>Wen immer die Python-Datei anspricht, die Sie benannt und bestätigt haben; die Aktionen der App selbst sprechen niemanden an.</translation>
    </message>
    <message>
        <source>What that file sends: it is a program of yours, and gets what its flows give it.</source>
        <translation>Was diese Datei sendet: Sie ist Ihr Programm und erhält, was ihre Abläufe ihr geben.</translation>
    </message>
    <message>
        <source>When a conversation through these rails calls such an action.</source>
        <translation>Wenn ein Gespräch mit diesen Leitplanken eine solche Aktion aufruft.</translation>
    </message>
    <message>
        <source>Leave the file out: desktop-rag rails run without --actions.</source>
        <translation>Lassen Sie die Datei weg: desktop-rag rails run ohne --actions.</translation>
    </message>
    <message>
        <source>Programs that you registered</source>
        <translation>Programme, die Sie eingetragen haben</translation>
    </message>
    <message>
        <source>Whatever the program contacts; the app itself contacts nobody.</source>
        <translation>Was immer das Programm anspricht; die App selbst spricht niemanden an.</translation>
    </message>
    <message>
        <source>What that program sends. It is given its arguments, and no key of the app&apos;s.</source>
        <translation>Was dieses Programm sendet. Es erhält seine Argumente und keinen Schlüssel der App.</translation>
    </message>
    <message>
        <source>When you agree to a command that runs it.</source>
        <translation>Wenn Sie einem Befehl zustimmen, der es ausführt.</translation>
    </message>
    <message>
        <source>Don&apos;t agree, or remove it in Settings, under Commands.</source>
        <translation>Stimmen Sie nicht zu, oder entfernen Sie es in den Einstellungen unter „Befehle“.</translation>
    </message>
    <message>
        <source>Remove it, or choose to fetch it only on request.</source>
        <translation>Entfernen Sie sie, oder lassen Sie sie nur auf Wunsch abrufen.</translation>
    </message>
    <message>
        <source>Rights of users of other applications</source>
        <translation>Rechte der Benutzer anderer Anwendungen</translation>
    </message>
    <message>
        <source>The address of the application that you named for a collection.</source>
        <translation>Die Adresse der Anwendung, die Sie für eine Sammlung angegeben haben.</translation>
    </message>
    <message>
        <source>The server of each, and no other host: of GitHub and Google the servers for programs, such as api.github.com and www.googleapis.com.</source>
        <translation>Der jeweilige Server und kein anderer; von GitHub und Google die Server für Programme, etwa api.github.com und www.googleapis.com.</translation>
    </message>
    <message>
        <source>The token with which its user asks, and for each document of that collection its id, its path below the folder you added, and its address; no text.</source>
        <translation>Das Token, mit dem ihr Benutzer fragt, und für jedes Dokument der Sammlung dessen Kennung, den Pfad unterhalb des hinzugefügten Ordners und die Adresse; kein Text.</translation>
    </message>
    <message>
        <source>When a program asks the local server for such a user.</source>
        <translation>Wenn ein Programm den lokalen Server für einen solchen Benutzer fragt.</translation>
    </message>
    <message>
        <source>Remove the rule of the collection: desktop-rag access remove.</source>
        <translation>Entfernen Sie die Regel der Sammlung: desktop-rag access remove.</translation>
    </message>
    <message>
        <source>The bot for Matrix rooms</source>
        <translation>Der Bot für Matrix-Räume</translation>
    </message>
    <message>
        <source>The homeserver of the account you made for it, and the local server that it asks.</source>
        <translation>Der Heimserver des Kontos, das Sie dafür angelegt haben, und der lokale Server, den er fragt.</translation>
    </message>
    <message>
        <source>To the homeserver: answers with the titles and addresses of their sources, in the rooms on your list. To the local server: questions, what came before them in their thread, messages to be summarised, and tokens that say for whom.</source>
        <translation>An den Heimserver: Antworten mit den Titeln und Adressen ihrer Quellen, in den Räumen auf Ihrer Liste. An den lokalen Server: Fragen, was ihnen in ihrem Thread vorausging, Nachrichten, die zusammengefasst werden sollen, und Token, die sagen, für wen.</translation>
    </message>
    <message>
        <source>When you add one, on its schedule, and when you refresh it.</source>
        <translation>Beim Hinzufügen, nach Zeitplan und wenn Sie aktualisieren.</translation>
    </message>
    <message>
        <source>While desktop-rag matrix runs, and when you log it in.</source>
        <translation>Solange desktop-rag matrix läuft, und wenn Sie es anmelden.</translation>
    </message>
    <message>
        <source>End it, or take rooms off the list: desktop-rag matrix deny.</source>
        <translation>Beenden Sie es, oder nehmen Sie Räume von der Liste: desktop-rag matrix deny.</translation>
    </message>
    <message>
        <source>The process that reads files</source>
        <translation>Der Prozess, der Dateien liest</translation>
    </message>
    <message>
        <source>A process of the app without network access, where the system offers that.</source>
        <translation>Ein Prozess der App ohne Netzzugang, wo das System das bietet.</translation>
    </message>
    <message>
        <source>The opened file, and its text back.</source>
        <translation>Die geöffnete Datei, und zurück ihr Text.</translation>
    </message>
    <message>
        <source>While files are indexed, attached or shown.</source>
        <translation>Während Dateien indiziert, angehängt oder gezeigt werden.</translation>
    </message>
    <message>
        <source>The model on this computer</source>
        <translation>Das Modell auf diesem Computer</translation>
    </message>
    <message>
        <source>A process of the app that runs a model, with a key of its own for each start.</source>
        <translation>Ein Prozess der App, der ein Modell ausführt, mit einem eigenen Schlüssel für jeden Start.</translation>
    </message>
    <message>
        <source>What an endpoint for answers or background tasks is sent. Nothing leaves the computer.</source>
        <translation>Was ein Endpunkt für Antworten oder Hintergrundaufgaben bekommt. Nichts verlässt den Computer.</translation>
    </message>
    <message>
        <source>When a model on this computer is used. It ends some minutes after the last request.</source>
        <translation>Wenn ein Modell auf diesem Computer benutzt wird. Er endet einige Minuten nach der letzten Anfrage.</translation>
    </message>
    <message>
        <source>Choose another endpoint, or remove the model.</source>
        <translation>Wählen Sie einen anderen Endpunkt, oder entfernen Sie das Modell.</translation>
    </message>
    <message>
        <source>Fetching a model</source>
        <translation>Herunterladen eines Modells</translation>
    </message>
    <message>
        <source>huggingface.co, or the host that HF_ENDPOINT names, and the store it points to.</source>
        <translation>huggingface.co oder der Host, den HF_ENDPOINT nennt, und der Speicher, auf den er verweist.</translation>
    </message>
    <message>
        <source>The name of the file. Nothing of yours.</source>
        <translation>Der Name der Datei. Nichts von Ihnen.</translation>
    </message>
    <message>
        <source>When you press the button that names the host, the size and the folder.</source>
        <translation>Wenn Sie den Knopf drücken, der Host, Größe und Ordner nennt.</translation>
    </message>
    <message>
        <source>Don&apos;t press it.</source>
        <translation>Drücken Sie ihn nicht.</translation>
    </message>
    <message>
        <source>Your desktop</source>
        <translation>Ihr Desktop</translation>
    </message>
    <message>
        <source>The display, the input method, the tray, and the screen reader if one runs.</source>
        <translation>Die Anzeige, die Eingabemethode, der Infobereich und der Bildschirmleser, falls einer läuft.</translation>
    </message>
    <message>
        <source>The contents of the window, the keys you chose for the quick ask, and notifications, which hold no text of documents.</source>
        <translation>Der Inhalt des Fensters, die für die Schnellfrage gewählten Tasten und Benachrichtigungen, die keinen Text von Dokumenten enthalten.</translation>
    </message>
    <message>
        <source>While the app runs, made by Qt as for any program with a window; for a notification without a tray; and when doctor asks whether there is a tray.</source>
        <translation>Solange die App läuft, durch Qt wie bei jedem Programm mit Fenster; für eine Benachrichtigung ohne Infobereich; und wenn doctor fragt, ob es einen Infobereich gibt.</translation>
    </message>
    <message>
        <source>Use the command line. Keys are cleared in the settings.</source>
        <translation>Verwenden Sie die Kommandozeile. Tasten werden in den Einstellungen gelöscht.</translation>
    </message>
    <message>
        <source>Usage reports</source>
        <translation>Nutzungsberichte</translation>
    </message>
    <message>
        <source>Nobody.</source>
        <translation>Niemand.</translation>
    </message>
    <message>
        <source>Nothing. The reports of libraries are switched off before they are loaded.</source>
        <translation>Nichts. Die Berichte von Bibliotheken werden abgeschaltet, bevor diese geladen werden.</translation>
    </message>
    <message>
        <source>Never.</source>
        <translation>Nie.</translation>
    </message>
    <message>
        <source>There is nothing to switch.</source>
        <translation>Es gibt nichts zu schalten.</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>Aktualisierungen</translation>
    </message>
    <message>
        <source>Nothing. The app neither looks for new versions nor fetches them.</source>
        <translation>Nichts. Die App sucht weder nach neuen Versionen noch lädt sie welche.</translation>
    </message>
    <message>
        <source>Extensions</source>
        <translation>Erweiterungen</translation>
    </message>
    <message>
        <source>Nothing. Models for search come with the app or from a folder of yours; libraries and the database fetch no parts of their own.</source>
        <translation>Nichts. Modelle für die Suche kommen mit der App oder aus einem Ihrer Ordner; Bibliotheken und die Datenbank holen keine eigenen Teile.</translation>
    </message>
    <message>
        <source>Learn from earlier answers</source>
        <translation>Aus früheren Antworten lernen</translation>
    </message>
    <message>
        <source>Contract assistant</source>
        <translation>Vertragsassistent</translation>
    </message>
    <message>
        <source>Instructions</source>
        <translation>Anweisungen</translation>
    </message>
    <message>
        <source>Answer in two sentences and name the section.</source>
        <translation>Antworte in zwei Sätzen und nenne den Abschnitt.</translation>
    </message>
    <message>
        <source>Rails</source>
        <translation>Leitplanken</translation>
    </message>
    <message>
        <source>{count:,} runs</source>
        <translation>{count:,} Läufe</translation>
    </message>
    <message>
        <source>Set-up</source>
        <translation>Aufbau</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>Bewertung</translation>
    </message>
    <message>
        <source>Preferred</source>
        <translation>Vorgezogen</translation>
    </message>
    <message>
        <source>Backed by sources</source>
        <translation>Durch Quellen belegt</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Gedächtnis</translation>
    </message>
    <message>
        <source>Cost</source>
        <translation>Kosten</translation>
    </message>
    <message>
        <source>Its own</source>
        <translation>Eigene</translation>
    </message>
    <message>
        <source>{model} · not available</source>
        <translation>{model} · nicht verfügbar</translation>
    </message>
    <message>
        <source>Same model as the chat</source>
        <translation>Dasselbe Modell wie im Chat</translation>
    </message>
    <message>
        <source>all documents</source>
        <translation>alle Dokumente</translation>
    </message>
    <message>
        <source>its collections were removed</source>
        <translation>ihre Sammlungen wurden entfernt</translation>
    </message>
    <message>
        <source>{count_of} removed</source>
        <translation>{count_of} entfernt</translation>
    </message>
    <message>
        <source>collections</source>
        <translation>Sammlungen</translation>
    </message>
    <message>
        <source>may answer from its own knowledge</source>
        <translation>darf aus eigenem Wissen antworten</translation>
    </message>
    <message>
        <source>rails: {title}</source>
        <translation>Leitplanken: {title}</translation>
    </message>
    <message>
        <source>An assistant combines instructions, a model, collections and filters under one name. Create one, then select it above the chat.</source>
        <translation>Ein Assistent verbindet Anweisungen, ein Modell, Sammlungen und Filter unter einem Namen. Legen Sie einen an und wählen Sie ihn dann über dem Chat.</translation>
    </message>
    <message>
        <source>Assistants</source>
        <translation>Assistenten</translation>
    </message>
    <message>
        <source>Edit {name}</source>
        <translation>{name} bearbeiten</translation>
    </message>
    <message>
        <source>New…</source>
        <translation>Neu…</translation>
    </message>
    <message>
        <source>Edit…</source>
        <translation>Bearbeiten…</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>Duplizieren</translation>
    </message>
    <message>
        <source>Duplicate {name}</source>
        <translation>{name} duplizieren</translation>
    </message>
    <message>
        <source>Delete {name}</source>
        <translation>{name} löschen</translation>
    </message>
    <message>
        <source>Its chats continue without an assistant.</source>
        <translation>Seine Chats werden ohne Assistenten fortgesetzt.</translation>
    </message>
    <message>
        <source>Deleted “{one_line}”.</source>
        <translation>„{one_line}“ gelöscht.</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Ausgang</translation>
    </message>
    <message>
        <source>Do it</source>
        <translation>Ausführen</translation>
    </message>
    <message>
        <source>Don&apos;t</source>
        <translation>Nicht ausführen</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Nothing is done before you agree.</source>
        <translation>Nichts geschieht, bevor Sie zustimmen.</translation>
    </message>
    <message>
        <source>Press 👍 or 👎 below answers, or write your own version.</source>
        <translation>Drücken Sie 👍 oder 👎 unter Antworten, oder schreiben Sie Ihre eigene Fassung.</translation>
    </message>
    <message>
        <source>There is no feedback on answers yet.</source>
        <translation>Es gibt noch keine Rückmeldungen zu Antworten.</translation>
    </message>
    <message>
        <source>From my chats</source>
        <translation>Aus meinen Chats</translation>
    </message>
    <message>
        <source>Questions from a file</source>
        <translation>Fragen aus einer Datei</translation>
    </message>
    <message>
        <source>No model is set that could propose questions.</source>
        <translation>Es ist kein Modell eingestellt, das Fragen vorschlagen könnte.</translation>
    </message>
    <message>
        <source>Set one up in the settings.</source>
        <translation>Richten Sie eines in den Einstellungen ein.</translation>
    </message>
    <message>
        <source>{count:,} questions proposed so far</source>
        <translation>Bisher {count:,} Fragen vorgeschlagen</translation>
    </message>
    <message>
        <source>From my documents</source>
        <translation>Aus meinen Dokumenten</translation>
    </message>
    <message>
        <source>No question came that the documents answer.</source>
        <translation>Es kam keine Frage heraus, die die Dokumente beantworten.</translation>
    </message>
    <message>
        <source>The model reads passages and proposes questions…</source>
        <translation>Das Modell liest Textstellen und schlägt Fragen vor…</translation>
    </message>
    <message>
        <source>Delete “{name}” with all its runs?</source>
        <translation>„{name}“ mit allen Läufen löschen?</translation>
    </message>
    <message>
        <source>Remove the answers of {names}?</source>
        <translation>Die Antworten von {names} entfernen?</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Expected from the next run on.</source>
        <translation>Wird ab dem nächsten Lauf erwartet.</translation>
    </message>
    <message>
        <source>There is nothing left to judge in these runs.</source>
        <translation>In diesen Läufen ist nichts mehr zu beurteilen.</translation>
    </message>
    <message>
        <source>No question is answered in both runs yet.</source>
        <translation>Noch ist keine Frage in beiden Durchläufen beantwortet.</translation>
    </message>
    <message>
        <source>The model compares the answers…</source>
        <translation>Das Modell vergleicht die Antworten…</translation>
    </message>
    <message>
        <source>Save a report</source>
        <translation>Bericht speichern</translation>
    </message>
    <message>
        <source>Saved: {name}</source>
        <translation>Gespeichert: {name}</translation>
    </message>
    <message>
        <source>They show the model the style of answer you like. Facts come only from the sources, and answers you rated as bad are never used. You can turn this off in Settings, under Privacy.</source>
        <translation>Sie zeigen dem Modell, welche Art von Antworten Sie mögen. Fakten kommen nur aus den Quellen, und schlecht bewertete Antworten werden nie verwendet. Abschalten können Sie das in den Einstellungen unter Datenschutz.</translation>
    </message>
    <message>
        <source>Deleted</source>
        <translation>Gelöscht</translation>
    </message>
    <message>
        <source>Earlier answers</source>
        <translation>Frühere Antworten</translation>
    </message>
    <message>
        <source>Earlier answers used as examples</source>
        <translation>Frühere Antworten als Beispiele</translation>
    </message>
    <message>
        <source>rated good</source>
        <translation>als gut bewertet</translation>
    </message>
    <message>
        <source>Type / in the question field to use a prompt. You fill in {{placeholders}} when you use it. Each prompt is a Markdown file, so you can copy and share it.</source>
        <translation>Tippen Sie / in das Fragefeld, um eine Vorlage zu verwenden. {{Platzhalter}} füllen Sie dabei aus. Jede Vorlage ist eine Markdown-Datei, die Sie kopieren und weitergeben können.</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Vorlage</translation>
    </message>
    <message>
        <source>New prompt</source>
        <translation>Neue Vorlage</translation>
    </message>
    <message>
        <source>Restore built-in prompts</source>
        <translation>Eingebaute Vorlagen wiederherstellen</translation>
    </message>
    <message>
        <source>Deleted /{one_line}.</source>
        <translation>/{one_line} gelöscht.</translation>
    </message>
    <message>
        <source>Saved as a Markdown file in your library. Answers to later questions can cite it as your own answer. The answer in this chat does not change.</source>
        <translation>Wird als Markdown-Datei in Ihrer Bibliothek gespeichert. Antworten auf spätere Fragen können sie als Ihre eigene Antwort zitieren. Die Antwort in diesem Chat ändert sich nicht.</translation>
    </message>
    <message>
        <source>Your answer</source>
        <translation>Ihre Antwort</translation>
    </message>
    <message>
        <source>Save the answer</source>
        <translation>Antwort speichern</translation>
    </message>
    <message>
        <source>{names_of} are not in your library.</source>
        <translation>{names_of} sind nicht in Ihrer Bibliothek.</translation>
    </message>
    <message>
        <source>The file is being read …</source>
        <translation>Die Datei wird gelesen…</translation>
    </message>
    <message>
        <source>Attach them</source>
        <translation>Anhängen</translation>
    </message>
    <message>
        <source>Attach it</source>
        <translation>Anhängen</translation>
    </message>
    <message>
        <source>Add the folder</source>
        <translation>Ordner hinzufügen</translation>
    </message>
    <message>
        <source>Add its folder</source>
        <translation>Ihren Ordner hinzufügen</translation>
    </message>
    <message>
        <source>Ask your documents, or search as you type</source>
        <translation>Fragen Sie Ihre Dokumente, oder suchen Sie beim Tippen</translation>
    </message>
    <message>
        <source>Ask a follow-up</source>
        <translation>Anschlussfrage stellen</translation>
    </message>
    <message>
        <source>Ask</source>
        <translation>Fragen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Ask without this assistant</source>
        <translation>Ohne diesen Assistenten fragen</translation>
    </message>
    <message>
        <source>Ask about all documents</source>
        <translation>Alle Dokumente befragen</translation>
    </message>
    <message>
        <source>Without documents: the model answers from what it knows</source>
        <translation>Ohne Dokumente: Das Modell antwortet aus seinem Wissen</translation>
    </message>
    <message>
        <source>Remove the selected text</source>
        <translation>Ausgewählten Text entfernen</translation>
    </message>
    <message>
        <source>Selected text: “{shown}”</source>
        <translation>Ausgewählter Text: „{shown}“</translation>
    </message>
    <message>
        <source>{name} is in your library, but can’t be searched. {one_line}</source>
        <translation>{name} ist in Ihrer Bibliothek, kann aber nicht durchsucht werden. {one_line}</translation>
    </message>
    <message>
        <source>{name} is not in your library.</source>
        <translation>{name} ist nicht in Ihrer Bibliothek.</translation>
    </message>
    <message>
        <source>{name} was not found.</source>
        <translation>{name} wurde nicht gefunden.</translation>
    </message>
    <message>
        <source>{shown} and {more:,} more</source>
        <translation>{shown} und {more:,} weitere</translation>
    </message>
    <message>
        <source>It is still being read.</source>
        <translation>Die Datei wird noch gelesen.</translation>
    </message>
    <message>
        <source>It has no file that can be read.</source>
        <translation>Keine lesbare Datei vorhanden.</translation>
    </message>
    <message>
        <source>Enter to ask · ↑ ↓ to choose a passage · Esc to close</source>
        <translation>Eingabetaste fragt · ↑ ↓ wählt eine Textstelle · Esc schließt</translation>
    </message>
    <message>
        <source>Enter to open it at its place · Ctrl+C to copy it with its source</source>
        <translation>Eingabetaste öffnet die Stelle · Strg+C kopiert sie mit ihrer Quelle</translation>
    </message>
    <message>
        <source>Ctrl+Enter goes on in the window · Esc to close</source>
        <translation>Strg+Eingabe: im Fenster weiter · Esc: schließen</translation>
    </message>
    <message>
        <source>No passage has these words. Enter asks all the same.</source>
        <translation>Keine Textstelle enthält diese Wörter. Die Eingabetaste fragt trotzdem.</translation>
    </message>
    <message>
        <source>Quick ask</source>
        <translation>Schnellfrage</translation>
    </message>
    <message>
        <source>New question</source>
        <translation>Neue Frage</translation>
    </message>
    <message>
        <source>Go on in the window</source>
        <translation>Im Fenster fortsetzen</translation>
    </message>
    <message>
        <source>Below is the text that is stored of it.</source>
        <translation>Unten steht der davon gespeicherte Text.</translation>
    </message>
    <message>
        <source>Show its folder</source>
        <translation>Ordner anzeigen</translation>
    </message>
    <message>
        <source>This document is no longer in your library.</source>
        <translation>Dieses Dokument ist nicht mehr in Ihrer Bibliothek.</translation>
    </message>
    <message>
        <source>Below is the passage as it was cited.</source>
        <translation>Unten steht die Textstelle, wie sie zitiert wurde.</translation>
    </message>
    <message>
        <source>The shared library is offline, or no longer has this document.</source>
        <translation>Die gemeinsame Bibliothek ist offline, oder sie hat dieses Dokument nicht mehr.</translation>
    </message>
    <message>
        <source>This document needs a password.</source>
        <translation>Dieses Dokument braucht ein Passwort.</translation>
    </message>
    <message>
        <source>The document has changed: the cited words are no longer in it.</source>
        <translation>Das Dokument hat sich geändert: Die zitierten Wörter stehen nicht mehr darin.</translation>
    </message>
    <message>
        <source>They were: “{one_line}”</source>
        <translation>Sie lauteten: „{one_line}“</translation>
    </message>
    <message>
        <source>From the shared library: its file is on another computer.</source>
        <translation>Aus der gemeinsamen Bibliothek: Die Datei liegt auf einem anderen Computer.</translation>
    </message>
    <message>
        <source>{one_line} was moved or deleted.</source>
        <translation>{one_line} wurde verschoben oder gelöscht.</translation>
    </message>
    <message>
        <source>The file can&apos;t be reached: its drive or folder is not connected.</source>
        <translation>Die Datei ist nicht erreichbar: Ihr Laufwerk oder Ordner ist nicht verbunden.</translation>
    </message>
    <message>
        <source>The file has changed since it was read.</source>
        <translation>Die Datei hat sich geändert, seit sie gelesen wurde.</translation>
    </message>
    <message>
        <source>Below is the text as it was read. The new one follows when it is read again.</source>
        <translation>Unten steht der Text, wie er gelesen wurde. Der neue folgt, sobald die Datei wieder gelesen ist.</translation>
    </message>
    <message>
        <source>This document is still to be read.</source>
        <translation>Dieses Dokument muss noch gelesen werden.</translation>
    </message>
    <message>
        <source>There is no text of this document.</source>
        <translation>Von diesem Dokument gibt es keinen Text.</translation>
    </message>
    <message>
        <source>{hint} Below is the passage as it was cited.</source>
        <translation>{hint} Unten steht die Textstelle, wie sie zitiert wurde.</translation>
    </message>
    <message>
        <source>Back (Alt+Left)</source>
        <translation>Zurück (Alt+Links)</translation>
    </message>
    <message>
        <source>Forward (Alt+Right)</source>
        <translation>Vorwärts (Alt+Rechts)</translation>
    </message>
    <message>
        <source>Find in the document (Ctrl+F)</source>
        <translation>Im Dokument suchen (Strg+F)</translation>
    </message>
    <message>
        <source>Show as text</source>
        <translation>Als Text anzeigen</translation>
    </message>
    <message>
        <source>Ask about this document</source>
        <translation>Zu diesem Dokument fragen</translation>
    </message>
    <message>
        <source>Open in a window of its own</source>
        <translation>In eigenem Fenster öffnen</translation>
    </message>
    <message>
        <source>Close the document (Esc)</source>
        <translation>Dokument schließen (Esc)</translation>
    </message>
    <message>
        <source>Document</source>
        <translation>Dokument</translation>
    </message>
    <message>
        <source>Open in the browser</source>
        <translation>Im Browser öffnen</translation>
    </message>
    <message>
        <source>Find in the document</source>
        <translation>Im Dokument suchen</translation>
    </message>
    <message>
        <source>Back to the document before</source>
        <translation>Zurück zum vorigen Dokument</translation>
    </message>
    <message>
        <source>Forward to the next document</source>
        <translation>Vor zum nächsten Dokument</translation>
    </message>
    <message>
        <source>What this link names is not in your library.</source>
        <translation>Was dieser Link nennt, ist nicht in Ihrer Bibliothek.</translation>
    </message>
    <message>
        <source>By the date that a file states about itself, else by its last change.</source>
        <translation>Nach dem Datum, das eine Datei von sich selbst angibt, sonst nach ihrer letzten Änderung.</translation>
    </message>
    <message>
        <source>Dates</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>A Markdown file of yours is written there. The folder becomes a part of the library, so that later questions find the note as yours.</source>
        <translation>Dort wird eine Markdown-Datei geschrieben, die Ihnen gehört. Der Ordner wird Teil der Bibliothek, damit spätere Fragen die Notiz als Ihre finden.</translation>
    </message>
    <message>
        <source>Write a note about…</source>
        <translation>Notiz schreiben über…</translation>
    </message>
    <message>
        <source>Topic</source>
        <translation>Thema</translation>
    </message>
    <message>
        <source>A topic, a person, a project</source>
        <translation>Ein Thema, eine Person, ein Projekt</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Write</source>
        <translation>Schreiben</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Von</translation>
    </message>
    <message>
        <source>Folder of the note</source>
        <translation>Ordner der Notiz</translation>
    </message>
    <message>
        <source>First day</source>
        <translation>Erster Tag</translation>
    </message>
    <message>
        <source>To</source>
        <translation>Bis</translation>
    </message>
    <message>
        <source>Last day</source>
        <translation>Letzter Tag</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suche</translation>
    </message>
    <message>
        <source>No tags yet. Give some to files in the library, or by “tags:” in front matter.</source>
        <translation>Noch keine Schlagwörter. Vergeben Sie welche an Dateien in der Bibliothek oder durch „tags:“ im Vorspann.</translation>
    </message>
    <message>
        <source>Clear all filters</source>
        <translation>Alle Filter entfernen</translation>
    </message>
    <message>
        <source>Filter by {kind}</source>
        <translation>Filtern nach: {kind}</translation>
    </message>
    <message>
        <source>Other days…</source>
        <translation>Andere Tage…</translation>
    </message>
    <message>
        <source>Nothing to choose from yet.</source>
        <translation>Noch nichts zur Auswahl.</translation>
    </message>
    <message>
        <source>All of it</source>
        <translation>Alles davon</translation>
    </message>
    <message>
        <source>Remove the filter {words}</source>
        <translation>Filter {words} entfernen</translation>
    </message>
    <message>
        <source>of the best passages</source>
        <translation>der besten Textstellen</translation>
    </message>
    <message>
        <source>{count_of} in {files}</source>
        <translation>{count_of} in {files}</translation>
    </message>
    <message>
        <source>The best {said}</source>
        <translation>Die besten {said}</translation>
    </message>
    <message>
        <source>Choose a result to read it here.</source>
        <translation>Wählen Sie einen Treffer, um ihn hier zu lesen.</translation>
    </message>
    <message>
        <source>Ask about this file</source>
        <translation>Zu dieser Datei fragen</translation>
    </message>
    <message>
        <source>Ask about {files}</source>
        <translation>Fragen zu {files}</translation>
    </message>
    <message>
        <source>Ask about these {files}</source>
        <translation>Fragen zu diesen {files}</translation>
    </message>
    <message>
        <source>Ask about all {files}</source>
        <translation>Fragen zu allen {files}</translation>
    </message>
    <message>
        <source>Search only this folder</source>
        <translation>Nur diesen Ordner durchsuchen</translation>
    </message>
    <message>
        <source>Copy passage with its source</source>
        <translation>Textstelle mit Quelle kopieren</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>Treffer</translation>
    </message>
    <message>
        <source>Show {count_of}</source>
        <translation>{count_of} anzeigen</translation>
    </message>
    <message>
        <source>more passage</source>
        <translation>weitere Textstelle</translation>
    </message>
    <message>
        <source>more passages</source>
        <translation>weitere Textstellen</translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation>Letzte 7 Tage</translation>
    </message>
    <message>
        <source>Last 30 days</source>
        <translation>Letzte 30 Tage</translation>
    </message>
    <message>
        <source>This year</source>
        <translation>Dieses Jahr</translation>
    </message>
    <message>
        <source>Last year</source>
        <translation>Letztes Jahr</translation>
    </message>
    <message>
        <source>Before {year}</source>
        <translation>Vor {year}</translation>
    </message>
    <message>
        <source>from {day}</source>
        <translation>ab {day}</translation>
    </message>
    <message>
        <source>to {day}</source>
        <translation>bis {day}</translation>
    </message>
    <message>
        <source>Search without filters</source>
        <translation>Ohne Filter suchen</translation>
    </message>
    <message>
        <source>Ask it as a question</source>
        <translation>Als Frage stellen</translation>
    </message>
    <message>
        <source>Nothing to search yet</source>
        <translation>Noch nichts zu durchsuchen</translation>
    </message>
    <message>
        <source>Add a folder, and its files can be found here by their words and by what they mean.</source>
        <translation>Fügen Sie einen Ordner hinzu; dann finden Sie seine Dateien hier nach ihren Wörtern und nach ihrer Bedeutung.</translation>
    </message>
    <message>
        <source>Search {count_of}</source>
        <translation>{count_of} durchsuchen</translation>
    </message>
    <message>
        <source>Search your files</source>
        <translation>Ihre Dateien durchsuchen</translation>
    </message>
    <message>
        <source>Results come while you type: passages with your words first, then those that mean the same. This narrows them down:</source>
        <translation>Treffer erscheinen beim Tippen: zuerst Textstellen mit Ihren Wörtern, dann solche mit derselben Bedeutung. So grenzen Sie die Suche ein:</translation>
    </message>
    <message>
        <source>{filters} may leave out what you are looking for.</source>
        <translation>{filters} schließt vielleicht aus, was Sie suchen.</translation>
    </message>
    <message>
        <source>No file passes {filters}.</source>
        <translation>Keine Datei passt zu {filters}.</translation>
    </message>
    <message>
        <source>Check the spelling, or try fewer or other words.</source>
        <translation>Prüfen Sie die Schreibweise, oder versuchen Sie weniger oder andere Wörter.</translation>
    </message>
    <message>
        <source>The filters may leave out what you are looking for.</source>
        <translation>Vielleicht lassen die Filter weg, was Sie suchen.</translation>
    </message>
    <message>
        <source>Some files are still being read and can’t be found yet.</source>
        <translation>Einige Dateien werden noch gelesen und sind noch nicht zu finden.</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
    <message>
        <source>↑ ↓ through the results · Space reads · Enter asks about the selected files</source>
        <translation>↑ ↓ durch die Treffer · Leertaste liest · Eingabetaste fragt zu den gewählten Dateien</translation>
    </message>
    <message>
        <source>By file</source>
        <translation>Nach Datei</translation>
    </message>
    <message>
        <source>By passage</source>
        <translation>Nach Textstelle</translation>
    </message>
    <message>
        <source>Newest first</source>
        <translation>Neueste zuerst</translation>
    </message>
    <message>
        <source>By the day of the file instead of the best passage</source>
        <translation>Nach dem Tag der Datei statt nach der besten Textstelle</translation>
    </message>
    <message>
        <source>Open the chosen file in another program</source>
        <translation>Gewählte Datei in einem anderen Programm öffnen</translation>
    </message>
    <message>
        <source>Ask about the selection</source>
        <translation>Zur Auswahl fragen</translation>
    </message>
    <message>
        <source>Write what to search for</source>
        <translation>Suchtext eingeben</translation>
    </message>
    <message>
        <source>Close the document, or empty the field</source>
        <translation>Dokument schließen oder Feld leeren</translation>
    </message>
    <message>
        <source>Apache License 2.0</source>
        <translation>Apache-Lizenz 2.0</translation>
    </message>
    <message>
        <source>About</source>
        <translation>Über</translation>
    </message>
    <message>
        <source>Open the app&apos;s data folder</source>
        <translation>Datenordner der App öffnen</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>Version</translation>
    </message>
    <message>
        <source>update, release, which version</source>
        <translation>Aktualisierung, Update, welche Version</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>license, copyright, open source</source>
        <translation>Lizenz, Urheberrecht, Open Source</translation>
    </message>
    <message>
        <source>Data folder</source>
        <translation>Datenordner</translation>
    </message>
    <message>
        <source>Index, chats, settings and log, all on this computer. API keys are not in it.</source>
        <translation>Index, Chats, Einstellungen und Protokoll, alles auf diesem Computer. API-Schlüssel sind nicht darin.</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>Aktivität</translation>
    </message>
    <message>
        <source>not installed (running from source)</source>
        <translation>nicht installiert (läuft aus dem Quelltext)</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Darstellung</translation>
    </message>
    <message>
        <source>Keep running</source>
        <translation>Weiterlaufen</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Work in every program. Selected text is read when you press the key, never otherwise. A key set in your desktop&apos;s own settings can run “desktop-rag quick-ask” instead.</source>
        <translation>Wirken in jedem Programm. Ausgewählter Text wird nur gelesen, wenn Sie die Taste drücken. Eine Taste in den Einstellungen Ihres Desktops kann stattdessen „desktop-rag quick-ask“ ausführen.</translation>
    </message>
    <message>
        <source>On this desktop (Wayland) a program can&apos;t take a key by itself: it asks once.</source>
        <translation>Auf diesem Desktop (Wayland) kann sich ein Programm keine Taste selbst nehmen: Es fragt einmal.</translation>
    </message>
    <message>
        <source>Quick ask and background</source>
        <translation>Schnellfrage und Hintergrund</translation>
    </message>
    <message>
        <source>Wayland, shortcut, permission</source>
        <translation>Wayland, Tastenkürzel, Erlaubnis</translation>
    </message>
    <message>
        <source>where is my data, storage location, path, disk, log</source>
        <translation>wo sind meine Daten, Speicherort, Pfad, Festplatte, Protokoll</translation>
    </message>
    <message>
        <source>forget, clear, erase, reset what it learned</source>
        <translation>vergessen, leeren, löschen, Gelerntes zurücksetzen</translation>
    </message>
    <message>
        <source>What the app remembers</source>
        <translation>Was die App sich merkt</translation>
    </message>
    <message>
        <source>An assistant answers with instructions, documents and a model of its own. You choose one above a chat, or with @ in a question.</source>
        <translation>Ein Assistent antwortet mit eigenen Anweisungen, Dokumenten und einem eigenen Modell. Sie wählen ihn über einem Chat oder mit @ in einer Frage.</translation>
    </message>
    <message>
        <source>AI, LLM, language model, chat model, endpoint, connect, server, cloud</source>
        <translation>KI, LLM, Sprachmodell, Chatmodell, Endpunkt, verbinden, Server, Cloud</translation>
    </message>
    <message>
        <source>speech to text, dictation, recordings, audio, video, voice, whisper</source>
        <translation>Sprache zu Text, Diktat, Aufnahmen, Audio, Video, Stimme, Whisper</translation>
    </message>
    <message>
        <source>roles, persona, system prompt, instructions, custom GPT, bot</source>
        <translation>Rollen, Persona, Systemprompt, Anweisungen, eigener GPT, Bot</translation>
    </message>
    <message>
        <source>files, folders, indexing</source>
        <translation>Dateien, Ordner, Indizierung</translation>
    </message>
    <message>
        <source>desktop, window</source>
        <translation>Desktop, Fenster</translation>
    </message>
    <message>
        <source>info, license</source>
        <translation>Info, Lizenz</translation>
    </message>
    <message>
        <source>Ask the desktop for these keys</source>
        <translation>Den Desktop um diese Tasten bitten</translation>
    </message>
    <message>
        <source>None. Press keys to set one</source>
        <translation>Keine. Tasten drücken, um sie festzulegen</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Use no key for: {name}</source>
        <translation>Keine Taste verwenden für: {name}</translation>
    </message>
    <message>
        <source>In use: {words}</source>
        <translation>Aktiv: {words}</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>Aktiv</translation>
    </message>
    <message>
        <source>Use it with Ctrl, Alt or Meta, or a function key.</source>
        <translation>Verwenden Sie sie mit Strg, Alt oder Meta, oder eine Funktionstaste.</translation>
    </message>
    <message>
        <source>Takes effect after a restart. All documents are then embedded again in the background; until that is done, search uses the old model.</source>
        <translation>Gilt nach einem Neustart. Alle Dokumente werden dann im Hintergrund neu eingebettet; bis das geschehen ist, nutzt die Suche das alte Modell.</translation>
    </message>
    <message>
        <source>Indexing</source>
        <translation>Indizierung</translation>
    </message>
    <message>
        <source>templates, snippets, saved questions, slash commands, wordings</source>
        <translation>Vorlagen, Bausteine, gespeicherte Fragen, Schrägstrich, Formulierungen</translation>
    </message>
    <message>
        <source>Delete {count}?

Your chats stay as they are, but their answers no longer serve as examples. This can&apos;t be undone.</source>
        <translation>{count} löschen?

Ihre Chats bleiben unverändert, aber ihre Antworten dienen nicht mehr als Beispiele. Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>A usual name</source>
        <translation>Ein üblicher Name</translation>
    </message>
    <message>
        <source>Delete the log of all requests?

Usage is counted anew. This can&apos;t be undone.</source>
        <translation>Das Protokoll aller Anfragen löschen?

Die Nutzung wird neu gezählt. Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>Requests to the local server</source>
        <translation>Anfragen an den lokalen Server</translation>
    </message>
    <message>
        <source>Details of the request</source>
        <translation>Einzelheiten der Anfrage</translation>
    </message>
    <message>
        <source>Delete all…</source>
        <translation>Alle löschen…</translation>
    </message>
    <message>
        <source>All requests</source>
        <translation>Alle Anfragen</translation>
    </message>
    <message>
        <source>All tokens</source>
        <translation>Alle Token</translation>
    </message>
    <message>
        <source>Filter by model, path or words</source>
        <translation>Nach Modell, Pfad oder Wörtern filtern</translation>
    </message>
    <message>
        <source>Filter requests</source>
        <translation>Anfragen filtern</translation>
    </message>
    <message>
        <source>No request matches.</source>
        <translation>Keine Anfrage passt.</translation>
    </message>
    <message>
        <source>Delete the log</source>
        <translation>Protokoll löschen</translation>
    </message>
    <message>
        <source>Delete remembered answers</source>
        <translation>Gemerkte Antworten löschen</translation>
    </message>
    <message>
        <source>remembered answer</source>
        <translation>gemerkte Antwort</translation>
    </message>
    <message>
        <source>remembered answers</source>
        <translation>gemerkte Antworten</translation>
    </message>
    <message>
        <source>Delete all</source>
        <translation>Alle löschen</translation>
    </message>
    <message>
        <source>{count_of} remembered</source>
        <translation>{count_of} gemerkt</translation>
    </message>
    <message>
        <source>answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Text encoding</source>
        <translation>Textkodierung</translation>
    </message>
    <message>
        <source>Found by itself</source>
        <translation>Von selbst gefunden</translation>
    </message>
    <message>
        <source>Western European</source>
        <translation>Westeuropäisch</translation>
    </message>
    <message>
        <source>Central European</source>
        <translation>Mitteleuropäisch</translation>
    </message>
    <message>
        <source>Nordic</source>
        <translation>Nordisch</translation>
    </message>
    <message>
        <source>Baltic</source>
        <translation>Baltisch</translation>
    </message>
    <message>
        <source>Cyrillic</source>
        <translation>Kyrillisch</translation>
    </message>
    <message>
        <source>Hebrew</source>
        <translation>Hebräisch</translation>
    </message>
    <message>
        <source>Arabic</source>
        <translation>Arabisch</translation>
    </message>
    <message>
        <source>Thai</source>
        <translation>Thailändisch</translation>
    </message>
    <message>
        <source>Vietnamese</source>
        <translation>Vietnamesisch</translation>
    </message>
    <message>
        <source>Chinese</source>
        <translation>Chinesisch</translation>
    </message>
    <message>
        <source>Unicode</source>
        <translation>Unicode</translation>
    </message>
    <message>
        <source>Czech</source>
        <translation>Tschechisch</translation>
    </message>
    <message>
        <source>Danish</source>
        <translation>Dänisch</translation>
    </message>
    <message>
        <source>Dutch</source>
        <translation>Niederländisch</translation>
    </message>
    <message>
        <source>English</source>
        <translation>Englisch</translation>
    </message>
    <message>
        <source>Finnish</source>
        <translation>Finnisch</translation>
    </message>
    <message>
        <source>French</source>
        <translation>Französisch</translation>
    </message>
    <message>
        <source>German</source>
        <translation>Deutsch</translation>
    </message>
    <message>
        <source>Greek</source>
        <translation>Griechisch</translation>
    </message>
    <message>
        <source>Hindi</source>
        <translation>Hindi</translation>
    </message>
    <message>
        <source>Hungarian</source>
        <translation>Ungarisch</translation>
    </message>
    <message>
        <source>Italian</source>
        <translation>Italienisch</translation>
    </message>
    <message>
        <source>Japanese</source>
        <translation>Japanisch</translation>
    </message>
    <message>
        <source>Korean</source>
        <translation>Koreanisch</translation>
    </message>
    <message>
        <source>Norwegian</source>
        <translation>Norwegisch</translation>
    </message>
    <message>
        <source>Polish</source>
        <translation>Polnisch</translation>
    </message>
    <message>
        <source>Portuguese</source>
        <translation>Portugiesisch</translation>
    </message>
    <message>
        <source>Romanian</source>
        <translation>Rumänisch</translation>
    </message>
    <message>
        <source>Russian</source>
        <translation>Russisch</translation>
    </message>
    <message>
        <source>Spanish</source>
        <translation>Spanisch</translation>
    </message>
    <message>
        <source>Swedish</source>
        <translation>Schwedisch</translation>
    </message>
    <message>
        <source>Turkish</source>
        <translation>Türkisch</translation>
    </message>
    <message>
        <source>Ukrainian</source>
        <translation>Ukrainisch</translation>
    </message>
    <message>
        <source>In the library: by Folders › Options… of a folder, or by Exclude in a file&apos;s menu.</source>
        <translation>In der Bibliothek: über Ordner › Optionen… eines Ordners oder über „Ausschließen“ im Menü einer Datei.</translation>
    </message>
    <message>
        <source>Files and pictures</source>
        <translation>Dateien und Bilder</translation>
    </message>
    <message>
        <source>Leave out files</source>
        <translation>Dateien auslassen</translation>
    </message>
    <message>
        <source>exclude, ignore, skip, hide, patterns, gitignore, hidden files, subfolder</source>
        <translation>ausschließen, ignorieren, überspringen, ausblenden, Muster, gitignore, versteckte Dateien, Unterordner</translation>
    </message>
    <message>
        <source>Not installed. Start the app again after this:</source>
        <translation>Nicht installiert. Starten Sie die App danach neu:</translation>
    </message>
    <message>
        <source>vectors, embeddings, meaning, ONNX, language of documents</source>
        <translation>Vektoren, Einbettungen, Bedeutung, ONNX, Sprache der Dokumente</translation>
    </message>
    <message>
        <source>password, API key, token</source>
        <translation>Passwort, API-Schlüssel, Token</translation>
    </message>
    <message>
        <source>Questions you ask often. Type / in the question field to use one.</source>
        <translation>Fragen, die Sie oft stellen. Tippen Sie / in das Fragefeld, um eine zu verwenden.</translation>
    </message>
    <message>
        <source>Style of answers</source>
        <translation>Stil der Antworten</translation>
    </message>
    <message>
        <source>Search by</source>
        <translation>Suchen nach</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Saved. {change}</source>
        <translation>Gespeichert. {change}</translation>
    </message>
    <message>
        <source>{saved}. Used from the next start on.</source>
        <translation>{saved}. Gilt ab dem nächsten Start.</translation>
    </message>
    <message>
        <source>Undo: {change}</source>
        <translation>Rückgängig: {change}</translation>
    </message>
    <message>
        <source>Rails keep an assistant to what you write down. A topic is a few sentences as people say them, and what happens then: an answer from the documents, a text of yours, a polite refusal, or a question asked back. No model is asked to recognise them.</source>
        <translation>Leitplanken halten einen Assistenten an das, was Sie aufschreiben. Ein Thema sind ein paar Sätze, wie Menschen sie sagen, und was dann geschieht: eine Antwort aus den Dokumenten, ein Text von Ihnen, eine höfliche Ablehnung oder eine Rückfrage. Um sie zu erkennen, wird kein Modell gefragt.</translation>
    </message>
    <message>
        <source>Begin with “New rails…”, or open a folder of rails.</source>
        <translation>Beginnen Sie mit „Neue Leitplanken…“, oder öffnen Sie einen Ordner mit Leitplanken.</translation>
    </message>
    <message>
        <source>No topics yet. Without any, every question is answered from the documents.</source>
        <translation>Noch keine Themen. Ohne Themen wird jede Frage aus den Dokumenten beantwortet.</translation>
    </message>
    <message>
        <source>Not saved yet.</source>
        <translation>Noch nicht gespeichert.</translation>
    </message>
    <message>
        <source>These changes were not saved last time.</source>
        <translation>Diese Änderungen wurden beim letzten Mal nicht gespeichert.</translation>
    </message>
    <message>
        <source>Other files of this folder stay as they are: {files}.</source>
        <translation>Andere Dateien dieses Ordners bleiben, wie sie sind: {files}.</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>Themen</translation>
    </message>
    <message>
        <source>The files of these rails</source>
        <translation>Die Dateien dieser Leitplanken</translation>
    </message>
    <message>
        <source>The changes of these rails are not saved.</source>
        <translation>Die Änderungen dieser Leitplanken sind nicht gespeichert.</translation>
    </message>
    <message>
        <source>A change of all but the names restarts the server: answers that are under way are cut.</source>
        <translation>Eine Änderung außer an den Namen startet den Server neu: Antworten, die gerade geschrieben werden, brechen ab.</translation>
    </message>
    <message>
        <source>Every computer in the networks of this one reaches it then. Whoever has a token can ask your documents and read them.</source>
        <translation>Dann erreicht ihn jeder Computer in den Netzen dieses Computers. Wer einen Token hat, kann Ihre Dokumente befragen und lesen.</translation>
    </message>
    <message>
        <source>Without a certificate, everyone on the way can read tokens, questions and answers.</source>
        <translation>Ohne Zertifikat kann jeder auf dem Weg Token, Fragen und Antworten mitlesen.</translation>
    </message>
    <message>
        <source>With the certificate, nobody on the way can read them.</source>
        <translation>Mit dem Zertifikat kann niemand auf dem Weg mitlesen.</translation>
    </message>
    <message>
        <source>By which other computers ask it: the name of this computer in your network, or its address, separated by commas.</source>
        <translation>Unter ihnen fragen ihn andere Computer: der Name dieses Computers in Ihrem Netz oder seine Adresse, durch Kommas getrennt.</translation>
    </message>
    <message>
        <source>For https, as PEM files. Only their paths are kept; the server reads them when it starts.</source>
        <translation>Für https, als PEM-Dateien. Nur ihre Pfade werden gespeichert; der Server liest sie, wenn er startet.</translation>
    </message>
    <message>
        <source>How the server is reached</source>
        <translation>Wie der Server erreicht wird</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Use these</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>If it is in another file</source>
        <translation>Wenn er in einer anderen Datei ist</translation>
    </message>
    <message>
        <source>Choose the certificate</source>
        <translation>Zertifikat wählen</translation>
    </message>
    <message>
        <source>Choose the key</source>
        <translation>Schlüssel wählen</translation>
    </message>
    <message>
        <source>Reached by</source>
        <translation>Erreichbar für</translation>
    </message>
    <message>
        <source>Names</source>
        <translation>Namen</translation>
    </message>
    <message>
        <source>Its key</source>
        <translation>Sein Schlüssel</translation>
    </message>
    <message>
        <source>Only this computer</source>
        <translation>Nur dieser Computer</translation>
    </message>
    <message>
        <source>Other computers too</source>
        <translation>Auch andere Computer</translation>
    </message>
    <message>
        <source>Whoever reaches {host}</source>
        <translation>Wer {host} erreicht</translation>
    </message>
    <message>
        <source>Another program has this port: the server uses {port}.</source>
        <translation>Ein anderes Programm hat diesen Port: Der Server benutzt {port}.</translation>
    </message>
    <message>
        <source>The server was restarted. It is asked at {address}</source>
        <translation>Der Server wurde neu gestartet. Er wird gefragt unter {address}</translation>
    </message>
    <message>
        <source>Certificate or key</source>
        <translation>Zertifikat oder Schlüssel</translation>
    </message>
    <message>
        <source>All files</source>
        <translation>Alle Dateien</translation>
    </message>
    <message>
        <source>It is for {names}, and valid until {day}.</source>
        <translation>Es gilt für {names}, bis {day}.</translation>
    </message>
    <message>
        <source>Programs that ask {names} will refuse it.</source>
        <translation>Programme, die {names} fragen, lehnen es ab.</translation>
    </message>
    <message>
        <source>Other computers need a name or an address to ask it by.</source>
        <translation>Andere Computer brauchen einen Namen oder eine Adresse, unter der sie ihn fragen.</translation>
    </message>
    <message>
        <source>Saved.</source>
        <translation>Gespeichert.</translation>
    </message>
    <message>
        <source>The server restarts…</source>
        <translation>Der Server startet neu…</translation>
    </message>
    <message>
        <source>Some of the files have it. Checked, all get it; unchecked, it is taken from all.</source>
        <translation>Einige der Dateien haben es. Mit Haken erhalten es alle, ohne Haken wird es allen genommen.</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Schlagwörter</translation>
    </message>
    <message>
        <source>Add a tag, such as to do or project/roof</source>
        <translation>Schlagwort hinzufügen, etwa offen oder projekt/dach</translation>
    </message>
    <message>
        <source>Add a tag</source>
        <translation>Schlagwort hinzufügen</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>No tags yet.</source>
        <translation>Noch keine Schlagwörter.</translation>
    </message>
    <message>
        <source>Tags of {count_of}</source>
        <translation>Schlagwörter von {count_of}</translation>
    </message>
    <message>
        <source>Tags of {one_line}</source>
        <translation>Schlagwörter von {one_line}</translation>
    </message>
    <message>
        <source>the file itself</source>
        <translation>der Datei selbst</translation>
    </message>
    <message>
        <source>the files themselves</source>
        <translation>den Dateien selbst</translation>
    </message>
    <message>
        <source>From {from_files}, to be changed there: {words}</source>
        <translation>Aus {from_files}, dort zu ändern: {words}</translation>
    </message>
    <message>
        <source>It stays in the tray and keeps your folders up to date.</source>
        <translation>Die App bleibt im Infobereich und hält Ihre Ordner aktuell.</translation>
    </message>
    <message>
        <source>This desktop has no tray. The app keeps your folders up to date without a window; start desktop-rag again to see it, ask with “desktop-rag quick-ask”, or end it with “desktop-rag quit”.</source>
        <translation>Dieser Desktop hat keinen Infobereich. Die App hält Ihre Ordner ohne Fenster aktuell; starten Sie desktop-rag erneut, um sie zu sehen, fragen Sie mit „desktop-rag quick-ask“ oder beenden Sie sie mit „desktop-rag quit“.</translation>
    </message>
    <message>
        <source>You can change this later in the settings.</source>
        <translation>Das können Sie später in den Einstellungen ändern.</translation>
    </message>
    <message>
        <source>Keep indexing in the background?

{where} {LATER}</source>
        <translation>Im Hintergrund weiter indizieren?

{where} {LATER}</translation>
    </message>
    <message>
        <source>The desktop has not been asked for this key yet.</source>
        <translation>Der Desktop wurde noch nicht um diese Taste gebeten.</translation>
    </message>
    <message>
        <source>This desktop offers no hotkeys to programs ({exc}).</source>
        <translation>Dieser Desktop bietet Programmen keine Tasten an ({exc}).</translation>
    </message>
    <message>
        <source>Your answer is ready.</source>
        <translation>Ihre Antwort ist fertig.</translation>
    </message>
    <message>
        <source>Something needs your attention.</source>
        <translation>Etwas braucht Ihre Aufmerksamkeit.</translation>
    </message>
    <message>
        <source>The answer to a scheduled question has changed.</source>
        <translation>Die Antwort auf eine geplante Frage hat sich geändert.</translation>
    </message>
    <message>
        <source>Your documents are indexed. You can ask about all of them.</source>
        <translation>Ihre Dokumente sind indiziert. Sie können zu allen fragen.</translation>
    </message>
    <message>
        <source>A folder is offline. Its documents can&apos;t be updated.</source>
        <translation>Ein Ordner ist nicht erreichbar. Seine Dokumente können nicht aktualisiert werden.</translation>
    </message>
    <message>
        <source>Open desktop-rag</source>
        <translation>desktop-rag öffnen</translation>
    </message>
    <message>
        <source>{count_of} offline</source>
        <translation>{count_of} nicht erreichbar</translation>
    </message>
    <message>
        <source>folders</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>{count_of} could not be read</source>
        <translation>{count_of} nicht lesbar</translation>
    </message>
    <message>
        <source>Something needs your attention</source>
        <translation>Etwas braucht Ihre Aufmerksamkeit</translation>
    </message>
    <message>
        <source>Resume indexing</source>
        <translation>Indizierung fortsetzen</translation>
    </message>
    <message>
        <source>Pause indexing for an hour</source>
        <translation>Indizierung für eine Stunde pausieren</translation>
    </message>
    <message>
        <source>Show what failed ({count:,})</source>
        <translation>Fehler anzeigen ({count:,})</translation>
    </message>
    <message>
        <source>Show what failed</source>
        <translation>Fehler anzeigen</translation>
    </message>
    <message>
        <source>Paused until {toString}</source>
        <translation>Pausiert bis {toString}</translation>
    </message>
    <message>
        <source>No folder yet</source>
        <translation>Noch kein Ordner</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>Filter by chat, model, host or message</source>
        <translation>Nach Chat, Modell, Rechner oder Meldung filtern</translation>
    </message>
    <message>
        <source>Filter events</source>
        <translation>Ereignisse filtern</translation>
    </message>
    <message>
        <source>Asked while the app is open, also in the background. What was missed is made up once.</source>
        <translation>Wird gestellt, solange die App läuft, auch im Hintergrund. Versäumtes wird einmal nachgeholt.</translation>
    </message>
    <message>
        <source>Ask regularly</source>
        <translation>Regelmäßig fragen</translation>
    </message>
    <message>
        <source>Scheduled question</source>
        <translation>Geplante Frage</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>Tag</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Seconds</source>
        <translation>Sekunden</translation>
    </message>
    <message>
        <source>Answered</source>
        <translation>Beantwortet</translation>
    </message>
    <message>
        <source>Waits for you</source>
        <translation>Wartet auf Sie</translation>
    </message>
    <message>
        <source>Declined</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source>Not decided, so not done</source>
        <translation>Nicht entschieden, also nicht ausgeführt</translation>
    </message>
    <message>
        <source>Under way</source>
        <translation>Läuft</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Unknown: the app ended meanwhile</source>
        <translation>Unbekannt: Die App wurde währenddessen beendet</translation>
    </message>
    <message>
        <source>Undone</source>
        <translation>Rückgängig gemacht</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>no valid token</source>
        <translation>kein gültiges Token</translation>
    </message>
    <message>
        <source>{asked} characters asked, {answered} answered</source>
        <translation>{asked} Zeichen gefragt, {answered} beantwortet</translation>
    </message>
    <message>
        <source>Question: {text}</source>
        <translation>Frage: {text}</translation>
    </message>
    <message>
        <source>Answer: {text}</source>
        <translation>Antwort: {text}</translation>
    </message>
    <message>
        <source>The question itself</source>
        <translation>Die Frage selbst</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>Event</source>
        <translation>Ereignis</translation>
    </message>
    <message>
        <source>Question: {question}</source>
        <translation>Frage: {question}</translation>
    </message>
    <message>
        <source>Recording is off. Turn it on in Settings, under Privacy.</source>
        <translation>Die Aufzeichnung ist aus. Einschalten können Sie sie in den Einstellungen unter Datenschutz.</translation>
    </message>
    <message>
        <source>Nothing is recorded yet. Questions, requests to endpoints and changes appear here.</source>
        <translation>Noch nichts aufgezeichnet. Fragen, Anfragen an Endpunkte und Änderungen erscheinen hier.</translation>
    </message>
    <message>
        <source>No events match the filter.</source>
        <translation>Kein Ereignis passt zum Filter.</translation>
    </message>
    <message>
        <source>No request was sent to an endpoint.</source>
        <translation>An keinen Endpunkt ging eine Anfrage.</translation>
    </message>
    <message>
        <source>Delete all recorded activity?

Your chats and the feedback in them stay. This can&apos;t be undone.</source>
        <translation>Alle aufgezeichneten Aktivitäten löschen?

Ihre Chats und die Rückmeldungen darin bleiben. Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Export activity</source>
        <translation>Aktivität exportieren</translation>
    </message>
    <message>
        <source>The activity could not be exported.</source>
        <translation>Die Aktivität konnte nicht exportiert werden.</translation>
    </message>
    <message>
        <source>{count_of} exported to {path}.</source>
        <translation>{count_of} nach {path} exportiert.</translation>
    </message>
    <message>
        <source>event</source>
        <translation>Ereignis</translation>
    </message>
    <message>
        <source>events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>Delete activity</source>
        <translation>Aktivität löschen</translation>
    </message>
    <message>
        <source>Choose an event to see its details.</source>
        <translation>Wählen Sie ein Ereignis, um Einzelheiten zu sehen.</translation>
    </message>
    <message>
        <source>Sentence to try</source>
        <translation>Satz zum Ausprobieren</translation>
    </message>
    <message>
        <source>A sentence as somebody would say it</source>
        <translation>Ein Satz, wie ihn jemand sagen würde</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>Trying…</source>
        <translation>Wird ausprobiert…</translation>
    </message>
    <message>
        <source>Open chat</source>
        <translation>Chat öffnen</translation>
    </message>
    <message>
        <source> at {host}</source>
        <translation> an {host}</translation>
    </message>
    <message>
        <source>Host</source>
        <translation>Host</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>Dauer</translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation>Zahlen</translation>
    </message>
    <message>
        <source>Backups (*{ENDING})</source>
        <translation>Sicherungen (*{ENDING})</translation>
    </message>
    <message>
        <source>Once a day, chats, feedback, assistants, prompts, collections, the list of folders and settings are also kept in a file of their own, the last {KEPT} of them. If the library is lost, it is filled from the newest at the next start.</source>
        <translation>Einmal am Tag werden Chats, Rückmeldungen, Assistenten, Vorlagen, Sammlungen, die Liste der Ordner und die Einstellungen auch in einer eigenen Datei abgelegt, die letzten {KEPT} davon. Geht die Bibliothek verloren, wird sie beim nächsten Start aus der neuesten gefüllt.</translation>
    </message>
    <message>
        <source>One file with the same content, to keep elsewhere or to move to another computer. Keys are never in it; whoever has the file can read your chats.</source>
        <translation>Eine Datei mit demselben Inhalt, zum Aufbewahren an anderem Ort oder für den Umzug auf einen anderen Computer. Schlüssel sind nie darin; wer die Datei hat, kann Ihre Chats lesen.</translation>
    </message>
    <message>
        <source>Also holds the text of your documents, so that they need not be read again. It fits into an empty library of the same version of the app.</source>
        <translation>Enthält auch den Text Ihrer Dokumente, damit sie nicht erneut gelesen werden müssen. Passt in eine leere Bibliothek derselben Version der App.</translation>
    </message>
    <message>
        <source>Merges a backup into the library. You see what it holds first.</source>
        <translation>Führt eine Sicherung mit der Bibliothek zusammen. Vorher sehen Sie, was darin ist.</translation>
    </message>
    <message>
        <source>Backup</source>
        <translation>Sicherung</translation>
    </message>
    <message>
        <source>Daily snapshots</source>
        <translation>Tägliche Sicherungsstände</translation>
    </message>
    <message>
        <source>connections, network, internet, what is sent, online, offline, data protection, telemetry, GDPR</source>
        <translation>Verbindungen, Netzwerk, Internet, was gesendet wird, online, offline, Datenschutz, Telemetrie, DSGVO</translation>
    </message>
    <message>
        <source>check, diagnosis, doctor, problems, errors, repair, is everything all right</source>
        <translation>prüfen, Diagnose, Probleme, Fehler, Reparatur, ist alles in Ordnung</translation>
    </message>
    <message>
        <source>test everything, diagnosis, problems</source>
        <translation>alles prüfen, Diagnose, Probleme</translation>
    </message>
    <message>
        <source>support, bug report, send to somebody</source>
        <translation>Hilfe, Fehlerbericht, jemandem schicken</translation>
    </message>
    <message>
        <source>save, copy, move to another computer, export, import, restore, snapshot</source>
        <translation>sichern, Kopie, auf einen anderen Computer umziehen, exportieren, importieren, wiederherstellen, Schnappschuss</translation>
    </message>
    <message>
        <source>Last snapshot</source>
        <translation>Letzter Sicherungsstand</translation>
    </message>
    <message>
        <source>restore, undo, go back, yesterday, lost chats</source>
        <translation>wiederherstellen, rückgängig, gestern, verlorene Chats</translation>
    </message>
    <message>
        <source>Back up to a file</source>
        <translation>In eine Datei sichern</translation>
    </message>
    <message>
        <source>With the index</source>
        <translation>Mit dem Index</translation>
    </message>
    <message>
        <source>faster, larger file</source>
        <translation>schneller, größere Datei</translation>
    </message>
    <message>
        <source>save chats, export all, another computer, move, transfer</source>
        <translation>Chats sichern, alles exportieren, anderer Computer, umziehen, übertragen</translation>
    </message>
    <message>
        <source>restore, load, another computer, merge, transfer</source>
        <translation>wiederherstellen, laden, anderer Computer, zusammenführen, übertragen</translation>
    </message>
    <message>
        <source>done, failed, cancel a backup</source>
        <translation>fertig, gescheitert, Sicherung abbrechen</translation>
    </message>
    <message>
        <source>history, log, events, what was sent to the model, what the app did, tokens</source>
        <translation>Verlauf, Protokoll, Ereignisse, was an das Modell gesendet wurde, was die App getan hat, Token</translation>
    </message>
    <message>
        <source>save the log, table, CSV</source>
        <translation>Protokoll speichern, Tabelle, CSV</translation>
    </message>
    <message>
        <source>clear history, forget, erase the log</source>
        <translation>Verlauf leeren, vergessen, Protokoll löschen</translation>
    </message>
    <message>
        <source>Back up everything…</source>
        <translation>Alles sichern…</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Alles</translation>
    </message>
    <message>
        <source>Back up a collection…</source>
        <translation>Sammlung sichern…</translation>
    </message>
    <message>
        <source>One collection</source>
        <translation>Eine Sammlung</translation>
    </message>
    <message>
        <source>share, export a part, give away</source>
        <translation>teilen, einen Teil exportieren, weitergeben</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>Import</translation>
    </message>
    <message>
        <source>Import a backup…</source>
        <translation>Sicherung importieren…</translation>
    </message>
    <message>
        <source>From a file</source>
        <translation>Aus einer Datei</translation>
    </message>
    <message>
        <source>Progress and result</source>
        <translation>Fortschritt und Ergebnis</translation>
    </message>
    <message>
        <source>Latest</source>
        <translation>Neuester</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Noch keiner</translation>
    </message>
    <message>
        <source>Restore {day} ({size_in_words})…</source>
        <translation>{day} wiederherstellen ({size_in_words})…</translation>
    </message>
    <message>
        <source>Shows what the snapshot holds first</source>
        <translation>Zeigt zuerst, was der Sicherungsstand enthält</translation>
    </message>
    <message>
        <source>Snapshot of {day}</source>
        <translation>Sicherungsstand vom {day}</translation>
    </message>
    <message>
        <source>Back up</source>
        <translation>Sichern</translation>
    </message>
    <message>
        <source>Backed up to {file}: {in_words}.</source>
        <translation>In {file} gesichert: {in_words}.</translation>
    </message>
    <message>
        <source>Import a backup</source>
        <translation>Sicherung importieren</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Checking every value…</source>
        <translation>Jeder Wert wird geprüft…</translation>
    </message>
    <message>
        <source>Chat programs, editors and scripts can ask your library, with its sources: they connect to this address as to an OpenAI-compatible endpoint, or by MCP.</source>
        <translation>Chatprogramme, Editoren und Skripte können Ihre Bibliothek befragen, mit ihren Quellen: Sie verbinden sich mit dieser Adresse wie mit einem OpenAI-kompatiblen Endpunkt, oder über MCP.</translation>
    </message>
    <message>
        <source>In a browser: documents, tokens, prompts, web pages, figures of use, users of other applications. It asks for a token that allows everything.</source>
        <translation>Im Browser: Dokumente, Tokens, Prompts, Webseiten, Zahlen zur Nutzung, Benutzer anderer Anwendungen. Gefragt wird nach einem Token, das alles erlaubt.</translation>
    </message>
    <message>
        <source>Each program gets a token of its own, so that you can refuse one without the others.</source>
        <translation>Jedes Programm erhält ein eigenes Token, damit Sie eines ohne die anderen abweisen können.</translation>
    </message>
    <message>
        <source>ask questions</source>
        <translation>Fragen stellen</translation>
    </message>
    <message>
        <source>search and read documents</source>
        <translation>Dokumente suchen und lesen</translation>
    </message>
    <message>
        <source>change documents</source>
        <translation>Dokumente ändern</translation>
    </message>
    <message>
        <source>everything, the admin page included</source>
        <translation>alles, auch die Verwaltungsseite</translation>
    </message>
    <message>
        <source>only in {collections}</source>
        <translation>nur in {collections}</translation>
    </message>
    <message>
        <source>model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>from pages of {origins}</source>
        <translation>von Seiten auf {origins}</translation>
    </message>
    <message>
        <source>{count} a minute</source>
        <translation>{count} pro Minute</translation>
    </message>
    <message>
        <source>with a list of sources</source>
        <translation>mit Quellenliste</translation>
    </message>
    <message>
        <source>with images and HTML</source>
        <translation>mit Bildern und HTML</translation>
    </message>
    <message>
        <source>Last used {time}</source>
        <translation>Zuletzt verwendet {time}</translation>
    </message>
    <message>
        <source>Never used</source>
        <translation>Nie verwendet</translation>
    </message>
    <message>
        <source>expired</source>
        <translation>abgelaufen</translation>
    </message>
    <message>
        <source>ends {time}</source>
        <translation>endet {time}</translation>
    </message>
    <message>
        <source>everything</source>
        <translation>alles</translation>
    </message>
    <message>
        <source>Only programs on this computer reach it, and only with a token.</source>
        <translation>Nur Programme auf diesem Computer erreichen ihn, und nur mit einem Token.</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <source>Let other programs ask</source>
        <translation>Andere Programme fragen lassen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>Adresse kopieren</translation>
    </message>
    <message>
        <source>Open the admin page</source>
        <translation>Verwaltungsseite öffnen</translation>
    </message>
    <message>
        <source>Expose the models of the endpoints</source>
        <translation>Modelle der Endpunkte freigeben</translation>
    </message>
    <message>
        <source>New token…</source>
        <translation>Neues Token…</translation>
    </message>
    <message>
        <source>Local server</source>
        <translation>Lokaler Server</translation>
    </message>
    <message>
        <source>Administration</source>
        <translation>Verwaltung</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Beginnt…</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>No tokens yet.</source>
        <translation>Noch keine Token.</translation>
    </message>
    <message>
        <source>Models…</source>
        <translation>Modelle…</translation>
    </message>
    <message>
        <source>What {name} may ask</source>
        <translation>Was {name} fragen darf</translation>
    </message>
    <message>
        <source>Revoke…</source>
        <translation>Widerrufen…</translation>
    </message>
    <message>
        <source>Revoke {name}</source>
        <translation>{name} widerrufen</translation>
    </message>
    <message>
        <source>Cancelled. Nothing was changed.</source>
        <translation>Abgebrochen. Nichts wurde geändert.</translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation>Wird abgebrochen…</translation>
    </message>
    <message>
        <source>Added or changed: {in_words}.</source>
        <translation>Hinzugefügt oder geändert: {in_words}.</translation>
    </message>
    <message>
        <source>The settings were taken too.</source>
        <translation>Die Einstellungen wurden ebenfalls übernommen.</translation>
    </message>
    <message>
        <source>The index was left out. {no_index}</source>
        <translation>Der Index wurde ausgelassen. {no_index}</translation>
    </message>
    <message>
        <source>Left out, because a part is in the library already: </source>
        <translation>Ausgelassen, weil ein Teil schon in der Bibliothek ist: </translation>
    </message>
    <message>
        <source>Not on this computer: {join}.</source>
        <translation>Nicht auf diesem Computer: {join}.</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>Problem</translation>
    </message>
    <message>
        <source>Not checked</source>
        <translation>Nicht geprüft</translation>
    </message>
    <message>
        <source>Chat model</source>
        <translation>Chatmodell</translation>
    </message>
    <message>
        <source>Connections</source>
        <translation>Verbindungen</translation>
    </message>
    <message>
        <source>Hotkeys</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Journal</source>
        <translation>Journal</translation>
    </message>
    <message>
        <source>Keyring</source>
        <translation>Schlüsselbund</translation>
    </message>
    <message>
        <source>Model files</source>
        <translation>Modelldateien</translation>
    </message>
    <message>
        <source>Permissions</source>
        <translation>Zugriffsrechte</translation>
    </message>
    <message>
        <source>Replica</source>
        <translation>Replikat</translation>
    </message>
    <message>
        <source>Sandbox</source>
        <translation>Sandbox</translation>
    </message>
    <message>
        <source>Slow searches</source>
        <translation>Langsame Suchen</translation>
    </message>
    <message>
        <source>Slow statements</source>
        <translation>Langsame Anweisungen</translation>
    </message>
    <message>
        <source>Free space</source>
        <translation>Freier Platz</translation>
    </message>
    <message>
        <source>Stored data</source>
        <translation>Gespeichertes</translation>
    </message>
    <message>
        <source>Tray</source>
        <translation>Infobereich</translation>
    </message>
    <message>
        <source>Vector index</source>
        <translation>Vektorindex</translation>
    </message>
    <message>
        <source>Watching folders</source>
        <translation>Überwachung der Ordner</translation>
    </message>
    <message>
        <source>{name}, the way out: {hint}</source>
        <translation>{name}, der Ausweg: {hint}</translation>
    </message>
    <message>
        <source>Reads everything that the app has stored, which takes a while for a large library, and looks at what it depends on: the model, your folders, the disk, the endpoint and the desktop. Nothing is changed. An endpoint, if one is set, is asked one short question.</source>
        <translation>Liest alles, was die App gespeichert hat, was bei einer großen Bibliothek eine Weile dauert, und prüft, wovon sie abhängt: das Modell, Ihre Ordner, den Datenträger, den Endpunkt und den Desktop. Nichts wird geändert. Ein Endpunkt, falls einer eingestellt ist, erhält eine kurze Frage.</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>Bericht kopieren</translation>
    </message>
    <message>
        <source>Cancelled. {told}</source>
        <translation>Abgebrochen. {told}</translation>
    </message>
    <message>
        <source>Copied. {told}</source>
        <translation>Kopiert. {told}</translation>
    </message>
    <message>
        <source>Checking… {count} done. Last: {check}.</source>
        <translation>Prüft… {count} fertig. Zuletzt: {check}.</translation>
    </message>
    <message>
        <source>The check could not be finished. {title} {hint}</source>
        <translation>Die Prüfung konnte nicht beendet werden. {title} {hint}</translation>
    </message>
    <message>
        <source>{count} checks: {result}.</source>
        <translation>{count} Prüfungen: {result}.</translation>
    </message>
    <message>
        <source>problem</source>
        <translation>Problem</translation>
    </message>
    <message>
        <source>problems</source>
        <translation>Probleme</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>warnings</source>
        <translation>Warnungen</translation>
    </message>
    <message>
        <source>nothing that needs attention</source>
        <translation>nichts, was Aufmerksamkeit braucht</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Erneut prüfen</translation>
    </message>
    <message>
        <source>What both have is kept once. Nothing of your library is removed; of assistants and prompts the newer one stays.</source>
        <translation>Was beide enthalten, bleibt einmal erhalten. Aus Ihrer Bibliothek wird nichts entfernt; bei Assistenten und Vorlagen bleibt die neuere Fassung.</translation>
    </message>
    <message>
        <source>Not on this computer, shown as offline until they are there or you remove them:</source>
        <translation>Nicht auf diesem Computer; als nicht erreichbar gezeigt, bis sie da sind oder Sie sie entfernen:</translation>
    </message>
    <message>
        <source>Names these endpoints, which would receive questions or texts. Check that they are yours:</source>
        <translation>Nennt diese Endpunkte, die Fragen oder Texte erhalten würden. Prüfen Sie, ob es Ihre sind:</translation>
    </message>
    <message>
        <source>It also holds an index. That is taken into an empty library only, with the app closed: desktop-rag backup import. Here the folders are read again.</source>
        <translation>Enthält auch einen Index. Er wird nur in eine leere Bibliothek übernommen, bei geschlossener App: desktop-rag backup import. Hier werden die Ordner neu gelesen.</translation>
    </message>
    <message>
        <source>the collection “{collection}”</source>
        <translation>der Sammlung „{collection}“</translation>
    </message>
    <message>
        <source>{name}: a backup of {of} from {day}</source>
        <translation>{name}: Sicherung von {of} vom {day}</translation>
    </message>
    <message>
        <source>It holds {in_words}.</source>
        <translation>Sie enthält {in_words}.</translation>
    </message>
    <message>
        <source>Its settings are taken only if you have not changed any here.</source>
        <translation>Ihre Einstellungen werden nur übernommen, wenn Sie hier keine geändert haben.</translation>
    </message>
    <message>
        <source>What the backup holds</source>
        <translation>Inhalt der Sicherung</translation>
    </message>
    <message>
        <source>Connections to other computers. An endpoint on your own computer is marked as such.</source>
        <translation>Verbindungen zu anderen Computern. Ein Endpunkt auf Ihrem eigenen Computer ist als solcher gekennzeichnet.</translation>
    </message>
    <message>
        <source>Connections between programs on your computer. Nothing leaves it by these.</source>
        <translation>Verbindungen zwischen Programmen auf Ihrem Computer. Dadurch verlässt ihn nichts.</translation>
    </message>
    <message>
        <source>Connections that other programs often make, and this app does not.</source>
        <translation>Verbindungen, die andere Programme oft aufbauen, diese App aber nicht.</translation>
    </message>
    <message>
        <source>As set now, nothing leaves this computer unless you ask for it.</source>
        <translation>Mit den jetzigen Einstellungen verlässt nichts diesen Computer, wenn Sie es nicht verlangen.</translation>
    </message>
    <message>
        <source>Show every connection</source>
        <translation>Jede Verbindung zeigen</translation>
    </message>
    <message>
        <source>Hide the connections</source>
        <translation>Verbindungen ausblenden</translation>
    </message>
    <message>
        <source>Leaves this computer</source>
        <translation>Verlässt diesen Computer</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Datenschutz</translation>
    </message>
    <message>
        <source>As set now, these go to other computers: {names}.</source>
        <translation>Mit den jetzigen Einstellungen gehen diese an andere Computer: {names}.</translation>
    </message>
    <message>
        <source>An assistant with the rails “Commands with consent” can run these when you say their sentence, each time after you agreed to exactly what would be run.</source>
        <translation>Ein Assistent mit den Leitplanken „Befehle mit Zustimmung“ kann diese ausführen, wenn Sie deren Satz sagen, jedes Mal erst, nachdem Sie genau dem zugestimmt haben, was ausgeführt würde.</translation>
    </message>
    <message>
        <source>What was proposed, what you said, and what came of it. Later answers of the same assistant are told what succeeded. Forgetting takes nothing back.</source>
        <translation>Was vorgeschlagen wurde, was Sie gesagt haben und was daraus wurde. Spätere Antworten desselben Assistenten erfahren, was gelungen ist. Vergessen macht nichts rückgängig.</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
    <message>
        <source>Register a program…</source>
        <translation>Programm eintragen…</translation>
    </message>
    <message>
        <source>Forget all…</source>
        <translation>Alle vergessen…</translation>
    </message>
    <message>
        <source>Programs</source>
        <translation>Programme</translation>
    </message>
    <message>
        <source>History</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>No program yet.</source>
        <translation>Noch kein Programm.</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern…</translation>
    </message>
    <message>
        <source>Change {name}</source>
        <translation>{name} ändern</translation>
    </message>
    <message>
        <source>{count} older ones are kept.</source>
        <translation>{count} ältere sind aufbewahrt.</translation>
    </message>
    <message>
        <source>Nothing yet.</source>
        <translation>Noch nichts.</translation>
    </message>
    <message>
        <source>Undo: {title}</source>
        <translation>Rückgängig machen: {title}</translation>
    </message>
    <message>
        <source>Forget</source>
        <translation>Vergessen</translation>
    </message>
    <message>
        <source>Forget: {title}</source>
        <translation>Vergessen: {title}</translation>
    </message>
    <message>
        <source>Outcome of {title}</source>
        <translation>Ausgang von {title}</translation>
    </message>
    <message>
        <source>Forget all</source>
        <translation>Alle vergessen</translation>
    </message>
    <message>
        <source>Forget the whole history of commands?</source>
        <translation>Den ganzen Verlauf der Befehle vergessen?</translation>
    </message>
    <message>
        <source>What they did stays.</source>
        <translation>Was sie getan haben, bleibt.</translation>
    </message>
    <message>
        <source>{switch} Opens {value}.</source>
        <translation>{switch} Öffnet {value}.</translation>
    </message>
    <message>
        <source>{words}, this computer only</source>
        <translation>{words}, nur dieser Computer</translation>
    </message>
    <message>
        <source>To: {recipient}
Sent: {sent}
When: {occasion}
Switch: {switch}</source>
        <translation>An: {recipient}
Gesendet: {sent}
Wann: {occasion}
Schalter: {switch}</translation>
    </message>
    <message>
        <source>The library needs a repair. It cannot be repaired while it is open, so the repair is done when the app starts next.</source>
        <translation>Die Bibliothek muss repariert werden. Das geht nicht, während sie geöffnet ist; deshalb geschieht es beim nächsten Start der App.</translation>
    </message>
    <message>
        <source>The library is repaired when the app starts next. Close the window and open it again.</source>
        <translation>Die Bibliothek wird beim nächsten Start der App repariert. Schließen Sie das Fenster, und öffnen Sie es erneut.</translation>
    </message>
    <message>
        <source>Repair the library at the next start?

Kept: your own files, which are never changed; chats, collections, folders, assistants and feedback, also from the journal beside the library; and a damaged library file, under another name.

Made again from your files: the parts of the index that are wrong. Until they are read again, some documents are not found.</source>
        <translation>Bibliothek beim nächsten Start reparieren?

Erhalten bleiben: Ihre eigenen Dateien, die nie geändert werden; Chats, Sammlungen, Ordner, Assistenten und Rückmeldungen, auch aus dem Journal neben der Bibliothek; und eine beschädigte Bibliotheksdatei unter anderem Namen.

Neu aus Ihren Dateien erzeugt: die fehlerhaften Teile des Index. Bis sie wieder gelesen sind, werden einige Dokumente nicht gefunden.</translation>
    </message>
    <message>
        <source>Repair at next start…</source>
        <translation>Beim nächsten Start reparieren…</translation>
    </message>
    <message>
        <source>Do not repair</source>
        <translation>Nicht reparieren</translation>
    </message>
    <message>
        <source>Repair the library</source>
        <translation>Bibliothek reparieren</translation>
    </message>
    <message>
        <source>Repair at next start</source>
        <translation>Beim nächsten Start reparieren</translation>
    </message>
    <message>
        <source>Source code</source>
        <translation>Quelltext</translation>
    </message>
    <message>
        <source>line {number:,}</source>
        <translation>Zeile {number:,}</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>Nachricht</translation>
    </message>
    <message>
        <source>Head of the message</source>
        <translation>Kopf der Nachricht</translation>
    </message>
    <message>
        <source>Attached</source>
        <translation>Angehängt</translation>
    </message>
    <message>
        <source>and {value:,} more, in the library</source>
        <translation>und {value:,} weitere in der Bibliothek</translation>
    </message>
    <message>
        <source>Copy the selected words</source>
        <translation>Ausgewählte Wörter kopieren</translation>
    </message>
    <message>
        <source>Select the page</source>
        <translation>Seite auswählen</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>Seiten</translation>
    </message>
    <message>
        <source>Page {page:,}</source>
        <translation>Seite {page:,}</translation>
    </message>
    <message>
        <source>Previous page</source>
        <translation>Vorige Seite</translation>
    </message>
    <message>
        <source>Next page</source>
        <translation>Nächste Seite</translation>
    </message>
    <message>
        <source>Page number</source>
        <translation>Seitenzahl</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>Verkleinern</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Fit width</source>
        <translation>An Breite anpassen</translation>
    </message>
    <message>
        <source>Fit the width</source>
        <translation>An die Breite anpassen</translation>
    </message>
    <message>
        <source>of {count:,}</source>
        <translation>von {count:,}</translation>
    </message>
    <message>
        <source>page {page:,} of {count:,}</source>
        <translation>Seite {page:,} von {count:,}</translation>
    </message>
    <message>
        <source>Sheets</source>
        <translation>Blätter</translation>
    </message>
    <message>
        <source>Cells</source>
        <translation>Zellen</translation>
    </message>
    <message>
        <source>cell {cell}</source>
        <translation>Zelle {cell}</translation>
    </message>
    <message>
        <source>Slide</source>
        <translation>Folie</translation>
    </message>
    <message>
        <source>Previous slide</source>
        <translation>Vorige Folie</translation>
    </message>
    <message>
        <source>Next slide</source>
        <translation>Nächste Folie</translation>
    </message>
    <message>
        <source>Slide {number:,} of {last:,}</source>
        <translation>Folie {number:,} von {last:,}</translation>
    </message>
    <message>
        <source>slide {number:,} of {last:,}</source>
        <translation>Folie {number:,} von {last:,}</translation>
    </message>
    <message>
        <source>Number of hits</source>
        <translation>Anzahl der Treffer</translation>
    </message>
    <message>
        <source>Previous hit</source>
        <translation>Voriger Treffer</translation>
    </message>
    <message>
        <source>Next hit</source>
        <translation>Nächster Treffer</translation>
    </message>
    <message>
        <source>Close the search</source>
        <translation>Suche schließen</translation>
    </message>
    <message>
        <source>{value:,} of {total}</source>
        <translation>{value:,} von {total}</translation>
    </message>
    <message>
        <source>This image is no longer available.</source>
        <translation>Dieses Bild ist nicht mehr verfügbar.</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Write a question</source>
        <translation>Frage eingeben</translation>
    </message>
    <message>
        <source>Show the chat</source>
        <translation>Chat zeigen</translation>
    </message>
    <message>
        <source>Show the library</source>
        <translation>Bibliothek zeigen</translation>
    </message>
    <message>
        <source>Show the settings</source>
        <translation>Einstellungen zeigen</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>Größerer Text</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>Kleinerer Text</translation>
    </message>
    <message>
        <source>Usual size of text</source>
        <translation>Übliche Textgröße</translation>
    </message>
    <message>
        <source>Show these shortcuts</source>
        <translation>Diese Tastenkürzel zeigen</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>{name} (Ctrl+{value})</source>
        <translation>{name} (Strg+{value})</translation>
    </message>
    <message>
        <source>Keyboard shortcuts (F1)</source>
        <translation>Tastenkürzel (F1)</translation>
    </message>
    <message>
        <source>The current page, </source>
        <translation>Die aktuelle Seite, </translation>
    </message>
    <message>
        <source>{place}Ctrl+{value}</source>
        <translation>{place}Strg+{value}</translation>
    </message>
    <message>
        <source>Repairing the library…
This can take some minutes. What is damaged is kept.</source>
        <translation>Die Bibliothek wird repariert…
Das kann einige Minuten dauern. Was beschädigt ist, bleibt erhalten.</translation>
    </message>
    <message>
        <source>No shortcut has these words.</source>
        <translation>Kein Tastenkürzel enthält diese Wörter.</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Search by words or keys</source>
        <translation>Nach Wörtern oder Tasten suchen</translation>
    </message>
    <message>
        <source>Search shortcuts</source>
        <translation>Tastenkürzel suchen</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>What it does</source>
        <translation>Wirkung</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Library: {line}</source>
        <translation>Bibliothek: {line}</translation>
    </message>
    <message>
        <source>The window is busy.</source>
        <translation>Das Fenster ist beschäftigt.</translation>
    </message>
    <message>
        <source>Look there, then try again.</source>
        <translation>Sehen Sie dort nach, und versuchen Sie es dann erneut.</translation>
    </message>
    <message>
        <source>The chat was deleted.</source>
        <translation>Der Chat wurde gelöscht.</translation>
    </message>
    <message>
        <source>Another process was turned away.</source>
        <translation>Ein anderer Prozess wurde abgewiesen.</translation>
    </message>
    <message>
        <source>Your files are safe. The details are in {logs}.</source>
        <translation>Ihre Dateien sind sicher. Einzelheiten stehen in {logs}.</translation>
    </message>
    <message>
        <source>An error in the app interrupted this.</source>
        <translation>Ein Fehler in der App hat dies unterbrochen.</translation>
    </message>
    <message>
        <source>New</source>
        <translation>Neu</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>Geändert</translation>
    </message>
    <message>
        <source>Gone</source>
        <translation>Entfallen</translation>
    </message>
    <message>
        <source>Nothing is written yet. Check what is to be written: at first all but what you wrote yourself and what would be removed.</source>
        <translation>Noch ist nichts geschrieben. Wählen Sie, was geschrieben werden soll: zunächst alles außer dem, was Sie selbst geschrieben haben oder was entfiele.</translation>
    </message>
    <message>
        <source>Note: {topic}</source>
        <translation>Notiz: {topic}</translation>
    </message>
    <message>
        <source>Sections</source>
        <translation>Abschnitte</translation>
    </message>
    <message>
        <source>Write the checked</source>
        <translation>Gewählte schreiben</translation>
    </message>
    <message>
        <source>Now:</source>
        <translation>Jetzt:</translation>
    </message>
    <message>
        <source>Then:</source>
        <translation>Dann:</translation>
    </message>
    <message>
        <source>{words} · yours</source>
        <translation>{words} · von Ihnen</translation>
    </message>
    <message>
        <source>The app writes a page about a topic, a person or a project from your documents, with links to its sources, as a Markdown file of yours. Change it as you like: what you wrote stays when the note is refreshed. Answers in your own words stand here too.</source>
        <translation>Die App schreibt aus Ihren Dokumenten eine Seite über ein Thema, eine Person oder ein Projekt, mit Links zu den Quellen, als Markdown-Datei von Ihnen. Ändern Sie sie nach Belieben: Was Sie geschrieben haben, bleibt beim Auffrischen. Antworten in Ihren eigenen Worten stehen auch hier.</translation>
    </message>
    <message>
        <source>your wording of an answer</source>
        <translation>Ihre Fassung einer Antwort</translation>
    </message>
    <message>
        <source>“{name}” has documents of its own. They are removed from the library with it; the files stay where they are.</source>
        <translation>„{name}“ hat eigene Dokumente. Sie werden mit ihm aus der Bibliothek entfernt; die Dateien bleiben, wo sie sind.</translation>
    </message>
    <message>
        <source>Delete assistant</source>
        <translation>Assistenten löschen</translation>
    </message>
    <message>
        <source>Delete with its documents</source>
        <translation>Mit seinen Dokumenten löschen</translation>
    </message>
    <message>
        <source>Keep the documents</source>
        <translation>Dokumente behalten</translation>
    </message>
    <message>
        <source>{name} · removed when saved</source>
        <translation>{name} · wird beim Speichern entfernt</translation>
    </message>
    <message>
        <source>{name} · added when saved</source>
        <translation>{name} · wird beim Speichern hinzugefügt</translation>
    </message>
    <message>
        <source>Documents of its own</source>
        <translation>Eigene Dokumente</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>Auffrischen</translation>
    </message>
    <message>
        <source>Links</source>
        <translation>Links</translation>
    </message>
    <message>
        <source>Add files to the assistant</source>
        <translation>Dateien zum Assistenten hinzufügen</translation>
    </message>
    <message>
        <source>Add a folder to the assistant</source>
        <translation>Ordner zum Assistenten hinzufügen</translation>
    </message>
    <message>
        <source>Enter it in the program as the key. It is shown this once and kept nowhere in this app: if it is lost, revoke it and make another.</source>
        <translation>Geben Sie es im Programm als Schlüssel ein. Es wird nur dieses eine Mal gezeigt und in dieser App nirgends aufbewahrt: Geht es verloren, widerrufen Sie es und erzeugen ein neues.</translation>
    </message>
    <message>
        <source>New token</source>
        <translation>Neues Token</translation>
    </message>
    <message>
        <source>The program that will use it</source>
        <translation>Das Programm, das es verwenden wird</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>More limits</source>
        <translation>Weitere Grenzen</translation>
    </message>
    <message>
        <source>Make token</source>
        <translation>Token erzeugen</translation>
    </message>
    <message>
        <source>It may:</source>
        <translation>Es darf:</translation>
    </message>
    <message>
        <source>Revoke token</source>
        <translation>Token widerrufen</translation>
    </message>
    <message>
        <source>Refuse “{name}” from now on?

The program needs a new token to ask again.</source>
        <translation>„{name}“ ab jetzt abweisen?

Das Programm braucht ein neues Token, um wieder zu fragen.</translation>
    </message>
    <message>
        <source>Revoke</source>
        <translation>Widerrufen</translation>
    </message>
    <message>
        <source>Before: </source>
        <translation>Vorher: </translation>
    </message>
    <message>
        <source>Scheduled: “{name}”.</source>
        <translation>Geplant: „{name}“.</translation>
    </message>
    <message>
        <source>Deleted “{name}”.</source>
        <translation>„{name}“ gelöscht.</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Zeigen</translation>
    </message>
    <message>
        <source>The answer to “{name}” has changed.</source>
        <translation>Die Antwort auf „{name}“ hat sich geändert.</translation>
    </message>
    <message>
        <source>A question that you ask again and again can be asked by the app: every day, every week, or when its documents changed. You are told when the answer says something else than before.</source>
        <translation>Eine Frage, die Sie immer wieder stellen, kann die App stellen: jeden Tag, jede Woche oder wenn sich ihre Dokumente geändert haben. Sie erfahren es, wenn die Antwort etwas anderes besagt als zuvor.</translation>
    </message>
    <message>
        <source>The last {count} answers are kept.</source>
        <translation>Die letzten {count} Antworten werden aufbewahrt.</translation>
    </message>
    <message>
        <source>Scheduled questions</source>
        <translation>Geplante Fragen</translation>
    </message>
    <message>
        <source>Schedule a question</source>
        <translation>Frage planen</translation>
    </message>
    <message>
        <source>Ask now</source>
        <translation>Jetzt fragen</translation>
    </message>
    <message>
        <source>Answers so far</source>
        <translation>Bisherige Antworten</translation>
    </message>
    <message>
        <source>{name} · being answered</source>
        <translation>{name} · wird beantwortet</translation>
    </message>
    <message>
        <source>{name} · failed</source>
        <translation>{name} · fehlgeschlagen</translation>
    </message>
    <message>
        <source>{name} · paused</source>
        <translation>{name} · pausiert</translation>
    </message>
    <message>
        <source>It is being answered.</source>
        <translation>Sie wird gerade beantwortet.</translation>
    </message>
    <message>
        <source>It was not answered yet.</source>
        <translation>Sie wurde noch nicht beantwortet.</translation>
    </message>
    <message>
        <source>{said} It is tried again at the next time, or with “Ask now”.</source>
        <translation>{said} Sie wird zur nächsten Zeit erneut gestellt, oder mit „Jetzt fragen“.</translation>
    </message>
    <message>
        <source>{said} It is tried again at {moment}, or with “Ask now”.</source>
        <translation>{said} Sie wird um {moment} erneut gestellt, oder mit „Jetzt fragen“.</translation>
    </message>
    <message>
        <source>When its documents changed</source>
        <translation>Wenn sich ihre Dokumente geändert haben</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Pausiert</translation>
    </message>
    <message>
        <source>Next: once its documents changed and stayed the same for a minute</source>
        <translation>Nächstes Mal: sobald sich ihre Dokumente geändert haben und eine Minute lang gleich geblieben sind</translation>
    </message>
    <message>
        <source>Next: {moment}</source>
        <translation>Nächstes Mal: {moment}</translation>
    </message>
    <message>
        <source>{moment} · changed</source>
        <translation>{moment} · geändert</translation>
    </message>
    <message>
        <source>No model is connected: the answers are excerpts, made on this computer.</source>
        <translation>Kein Modell ist verbunden: Die Antworten sind Auszüge, die auf diesem Computer entstehen.</translation>
    </message>
    <message>
        <source>Each run sends the question and its sources to {model} at {address}, which may cost something. Your limits apply.</source>
        <translation>Jeder Lauf sendet die Frage und ihre Quellen an {model} auf {address}, was etwas kosten kann. Ihre Grenzen gelten.</translation>
    </message>
    <message>
        <source>only passages with these words in this order</source>
        <translation>nur Textstellen mit diesen Wörtern in dieser Reihenfolge</translation>
    </message>
    <message>
        <source>only passages without the word</source>
        <translation>nur Textstellen ohne das Wort</translation>
    </message>
    <message>
        <source>only files with this in their name</source>
        <translation>nur Dateien mit diesem im Namen</translation>
    </message>
    <message>
        <source>only files of this type</source>
        <translation>nur Dateien dieser Art</translation>
    </message>
    <message>
        <source>only what lies in such a folder</source>
        <translation>nur, was in einem solchen Ordner liegt</translation>
    </message>
    <message>
        <source>only such a collection</source>
        <translation>nur eine solche Sammlung</translation>
    </message>
    <message>
        <source>only files with this tag</source>
        <translation>nur Dateien mit diesem Schlagwort</translation>
    </message>
    <message>
        <source>only files dated this day or later</source>
        <translation>nur Dateien von diesem Tag oder später</translation>
    </message>
    <message>
        <source>only files dated before this day</source>
        <translation>nur Dateien von vor diesem Tag</translation>
    </message>
    <message>
        <source>Word document</source>
        <translation>Word-Dokument</translation>
    </message>
    <message>
        <source>Spreadsheet</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>Presentation</source>
        <translation>Präsentation</translation>
    </message>
    <message>
        <source>E-mail</source>
        <translation>E-Mail</translation>
    </message>
    <message>
        <source>Web page</source>
        <translation>Webseite</translation>
    </message>
    <message>
        <source>Text, Markdown</source>
        <translation>Text, Markdown</translation>
    </message>
    <message>
        <source>E-book</source>
        <translation>E-Book</translation>
    </message>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Recording</source>
        <translation>Aufnahme</translation>
    </message>
    <message>
        <source>Code and data</source>
        <translation>Code und Daten</translation>
    </message>
    <message>
        <source>Other</source>
        <translation>Sonstiges</translation>
    </message>
    <message>
        <source>No topic of these rails: only {score:.0%} sure.</source>
        <translation>Kein Thema dieser Leitplanken: nur zu {score:.0%} sicher.</translation>
    </message>
    <message>
        <source>Understood as “{intent}” ({score:.0%} sure).</source>
        <translation>Verstanden als „{intent}“ (zu {score:.0%} sicher).</translation>
    </message>
    <message>
        <source>Answered from the documents as always.</source>
        <translation>Wird wie immer aus den Dokumenten beantwortet.</translation>
    </message>
    <message>
        <source>Says: {said}</source>
        <translation>Sagt: {said}</translation>
    </message>
    <message>
        <source>{similarity:.2f}  “{text}”: {intent}</source>
        <translation>{similarity:.2f}  „{text}“: {intent}</translation>
    </message>
    <message>
        <source>The answer is checked before it is shown.</source>
        <translation>Die Antwort wird geprüft, bevor sie gezeigt wird.</translation>
    </message>
    <message>
        <source>Follow links</source>
        <translation>Links folgen</translation>
    </message>
    <message>
        <source> steps</source>
        <translation> Schritte</translation>
    </message>
    <message>
        <source>Steps from the address</source>
        <translation>Schritte ab der Adresse</translation>
    </message>
    <message>
        <source>the folder of the address</source>
        <translation>der Ordner der Adresse</translation>
    </message>
    <message>
        <source>Only below this path</source>
        <translation>Nur unterhalb dieses Pfads</translation>
    </message>
    <message>
        <source>Pages of the same site are read, one after the other, unless it asks programs not to.</source>
        <translation>Seiten derselben Website werden nacheinander gelesen, sofern sie Programme nicht bittet, das zu lassen.</translation>
    </message>
    <message>
        <source>Every question is answered from the documents.</source>
        <translation>Jede Frage wird aus den Dokumenten beantwortet.</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>Rails of your own, from Settings → Assistants → Rails or as docs/rails.md describes them. Programs in the folder are not run.</source>
        <translation>Eigene Leitplanken, aus Einstellungen → Assistenten → Leitplanken oder wie docs/rails.md sie beschreibt. Programme in dem Ordner werden nicht ausgeführt.</translation>
    </message>
    <message>
        <source>A folder…</source>
        <translation>Ein Ordner…</translation>
    </message>
    <message>
        <source>Try a sentence</source>
        <translation>Satz ausprobieren</translation>
    </message>
    <message>
        <source>Try a sentence: which party shall I vote for?</source>
        <translation>Einen Satz ausprobieren: Welche Partei soll ich wählen?</translation>
    </message>
    <message>
        <source>Try</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Choose a folder of rails</source>
        <translation>Ordner mit Leitplanken wählen</translation>
    </message>
    <message>
        <source>With none ticked, it may use everything that is exposed, now and later. Tick a model of an endpoint to expose it; it answers without documents.</source>
        <translation>Ist nichts angekreuzt, gilt alles Freigegebene, jetzt und später. Ein Modell eines Endpunkts wird durch Ankreuzen freigegeben; es antwortet ohne Dokumente.</translation>
    </message>
    <message>
        <source>Models and assistants</source>
        <translation>Modelle und Assistenten</translation>
    </message>
    <message>
        <source>“{name}” may ask:</source>
        <translation>„{name}“ darf fragen:</translation>
    </message>
    <message>
        <source>{name} (gone)</source>
        <translation>{name} (nicht mehr da)</translation>
    </message>
    <message>
        <source>These programs start a command of this app and search, read and ask by MCP, without a token and without the server. A button enters the command in the program&apos;s settings, keeps a copy of the file as it was, and starts the command once to see that it answers.</source>
        <translation>Diese Programme starten einen Befehl dieser App und suchen, lesen und fragen über MCP, ohne Token und ohne den Server. Eine Schaltfläche trägt den Befehl in die Einstellungen des Programms ein, bewahrt eine Kopie der bisherigen Datei auf und startet den Befehl einmal, um zu sehen, ob er antwortet.</translation>
    </message>
    <message>
        <source>Not found on this computer</source>
        <translation>Auf diesem Computer nicht gefunden</translation>
    </message>
    <message>
        <source>Not set up</source>
        <translation>Nicht eingerichtet</translation>
    </message>
    <message>
        <source>Set up with another command</source>
        <translation>Mit einem anderen Befehl eingerichtet</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Eingerichtet</translation>
    </message>
    <message>
        <source>Its settings can&apos;t be read</source>
        <translation>Die Einstellungen lassen sich nicht lesen</translation>
    </message>
    <message>
        <source>Programs that speak MCP</source>
        <translation>Programme, die MCP sprechen</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Set it up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>Check {name}</source>
        <translation>{name} prüfen</translation>
    </message>
    <message>
        <source>Set up {name}</source>
        <translation>{name} einrichten</translation>
    </message>
    <message>
        <source>Starting the command as {name} would…</source>
        <translation>Der Befehl wird gestartet, wie {name} es täte…</translation>
    </message>
    <message>
        <source>{name} reaches the library: {count} tools answered. Restart it if it is open; it may ask whether you trust the server.</source>
        <translation>{name} erreicht die Bibliothek: {count} Werkzeuge haben geantwortet. Starten Sie es neu, falls es geöffnet ist; es fragt vielleicht, ob Sie dem Server vertrauen.</translation>
    </message>
    <message>
        <source>Its settings as they were: {file}</source>
        <translation>Die bisherigen Einstellungen: {file}</translation>
    </message>
    <message>
        <source>For programs that show no sources: otherwise they are beside the text only.</source>
        <translation>Für Programme, die keine Quellen anzeigen: Sonst stehen sie nur neben dem Text.</translation>
    </message>
    <message>
        <source>Only in these collections</source>
        <translation>Nur in diesen Sammlungen</translation>
    </message>
    <message>
        <source>Web origins</source>
        <translation>Web-Ursprünge</translation>
    </message>
    <message>
        <source>Web pages that may use it, separated by commas.</source>
        <translation>Webseiten, die es benutzen dürfen, durch Kommas getrennt.</translation>
    </message>
    <message>
        <source>Requests in a minute</source>
        <translation>Anfragen pro Minute</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>Nie</translation>
    </message>
    <message>
        <source>Ends after days</source>
        <translation>Endet nach Tagen</translation>
    </message>
    <message>
        <source>End answers with a list of their sources</source>
        <translation>Antworten mit einer Liste ihrer Quellen beenden</translation>
    </message>
    <message>
        <source>Leave images and HTML in answers</source>
        <translation>Bilder und HTML in Antworten lassen</translation>
    </message>
    <message>
        <source>For a program that makes them harmless itself.</source>
        <translation>Für ein Programm, das sie selbst unschädlich macht.</translation>
    </message>
    <message>
        <source>Only in these collections (none ticked: all of them):</source>
        <translation>Nur in diesen Sammlungen (nichts angekreuzt: alle):</translation>
    </message>
    <message>
        <source>Keep questions and answers in the log</source>
        <translation>Fragen und Antworten im Protokoll aufbewahren</translation>
    </message>
    <message>
        <source>Show the requests…</source>
        <translation>Anfragen zeigen…</translation>
    </message>
    <message>
        <source>Nothing is changed from here, since nobody could agree to it.</source>
        <translation>Von hier aus wird nichts geändert, da niemand zustimmen könnte.</translation>
    </message>
    <message>
        <source>Ask in the window of the app.</source>
        <translation>Fragen Sie im Fenster der App.</translation>
    </message>
    <message>
        <source>{title}? Nothing is done before you agree.</source>
        <translation>{title}? Nichts geschieht, bevor Sie zustimmen.</translation>
    </message>
    <message>
        <source>These rails have no name.</source>
        <translation>Diese Leitplanken haben keinen Namen.</translation>
    </message>
    <message>
        <source>Write a few words.</source>
        <translation>Schreiben Sie ein paar Wörter.</translation>
    </message>
    <message>
        <source>It was moved or deleted. Choose another.</source>
        <translation>Er wurde verschoben oder gelöscht. Wählen Sie einen anderen.</translation>
    </message>
    <message>
        <source>There is no folder {folder}.</source>
        <translation>Es gibt keinen Ordner {folder}.</translation>
    </message>
    <message>
        <source>They are shown as they are and never changed here.</source>
        <translation>Sie werden gezeigt, wie sie sind, und hier nie geändert.</translation>
    </message>
    <message>
        <source>Nothing was saved. Read it again, or save once more after putting it back.</source>
        <translation>Es wurde nichts gespeichert. Lesen Sie sie neu ein, oder stellen Sie sie wieder her und speichern Sie noch einmal.</translation>
    </message>
    <message>
        <source>“{name}” knows this sentence already.</source>
        <translation>„{name}“ kennt diesen Satz schon.</translation>
    </message>
    <message>
        <source>These rails can only be shown.</source>
        <translation>Diese Leitplanken können nur gezeigt werden.</translation>
    </message>
    <message>
        <source>There is no topic “{name}” any more.</source>
        <translation>Es gibt kein Thema „{name}“ mehr.</translation>
    </message>
    <message>
        <source>Commands can&apos;t be kept, so nothing is done.</source>
        <translation>Befehle können nicht aufbewahrt werden, also geschieht nichts.</translation>
    </message>
    <message>
        <source>Saved as {path}</source>
        <translation>Gespeichert als {path}</translation>
    </message>
    <message>
        <source>The note was changed since, so it stays.</source>
        <translation>Die Notiz wurde seither geändert, also bleibt sie.</translation>
    </message>
    <message>
        <source>Delete {path} yourself.</source>
        <translation>Löschen Sie {path} selbst.</translation>
    </message>
    <message>
        <source>{path} can&apos;t be removed.</source>
        <translation>{path} kann nicht entfernt werden.</translation>
    </message>
    <message>
        <source>{path} leads elsewhere now.</source>
        <translation>{path} führt jetzt woandershin.</translation>
    </message>
    <message>
        <source>Ask again.</source>
        <translation>Fragen Sie noch einmal.</translation>
    </message>
    <message>
        <source>{path} is in the library, and its files are being read</source>
        <translation>{path} ist in der Bibliothek, und die Dateien werden gelesen</translation>
    </message>
    <message>
        <source>The program was changed since it was proposed.</source>
        <translation>Das Programm wurde geändert, seit es vorgeschlagen wurde.</translation>
    </message>
    <message>
        <source>{path} has changed since you registered it.</source>
        <translation>{path} hat sich geändert, seit Sie es eingetragen haben.</translation>
    </message>
    <message>
        <source>Look at it, then save it again in Settings, under Commands.</source>
        <translation>Sehen Sie es sich an und speichern Sie es in den Einstellungen unter „Befehle“ noch einmal.</translation>
    </message>
    <message>
        <source>It was ended after {seconds} seconds.</source>
        <translation>Es wurde nach {seconds} Sekunden beendet.</translation>
    </message>
    <message>
        <source>It was ended with the app.</source>
        <translation>Es wurde mit der App beendet.</translation>
    </message>
    <message>
        <source>Ended with status {status}.</source>
        <translation>Beendet mit Status {status}.</translation>
    </message>
    <message>
        <source>(The rest of its output is left out.)</source>
        <translation>(Der Rest der Ausgabe ist weggelassen.)</translation>
    </message>
    <message>
        <source>This was decided already.</source>
        <translation>Darüber wurde schon entschieden.</translation>
    </message>
    <message>
        <source>Ask again to have it done.</source>
        <translation>Fragen Sie noch einmal, damit es geschieht.</translation>
    </message>
    <message>
        <source>Nobody agreed to this, or it was done already.</source>
        <translation>Niemand hat dem zugestimmt, oder es ist schon geschehen.</translation>
    </message>
    <message>
        <source>This can&apos;t be undone.</source>
        <translation>Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>This program is no longer registered.</source>
        <translation>Dieses Programm ist nicht mehr eingetragen.</translation>
    </message>
    <message>
        <source>No program “{name}” is registered.</source>
        <translation>Ein Programm „{name}“ ist nicht eingetragen.</translation>
    </message>
    <message>
        <source>Register it in Settings, under Commands.</source>
        <translation>Tragen Sie es in den Einstellungen unter „Befehle“ ein.</translation>
    </message>
    <message>
        <source>Another program has this name.</source>
        <translation>Ein anderes Programm hat diesen Namen.</translation>
    </message>
    <message>
        <source>1 folder is watched of the {most:,} that the system allows</source>
        <translation>1 Ordner wird überwacht, von {most:,}, die das System erlaubt</translation>
    </message>
    <message>
        <source>A chapter {why}: {name}</source>
        <translation>Ein Kapitel {why}: {name}</translation>
    </message>
    <message>
        <source>Allow that they are sent to {host} under Settings → Models → Transcription.</source>
        <translation>Erlauben Sie unter Einstellungen → Modelle → Transkription, dass sie an {host} gesendet werden.</translation>
    </message>
    <message>
        <source>Choose a server under Settings → Models → Transcription.</source>
        <translation>Wählen Sie unter Einstellungen → Modelle → Transkription einen Server.</translation>
    </message>
    <message>
        <source>Enter user and password again in the options of the source.</source>
        <translation>Geben Sie Benutzer und Passwort in den Optionen der Quelle erneut ein.</translation>
    </message>
    <message>
        <source>It has {size_bytes} MB, and a request may have {max_upload_mb} MB. Convert it to a smaller format such as MP3 or Opus, or to WAV, which is sent in pieces. Or raise the limit under Settings → Models → Transcription.</source>
        <translation>Sie hat {size_bytes} MB, und eine Anfrage darf {max_upload_mb} MB haben. Wandeln Sie sie in ein kleineres Format wie MP3 oder Opus um, oder in WAV, das in Teilen gesendet wird. Oder erhöhen Sie die Grenze unter Einstellungen → Modelle → Transkription.</translation>
    </message>
    <message>
        <source>It is asked again in {wait_s} s.</source>
        <translation>In {wait_s} s wird noch einmal gefragt.</translation>
    </message>
    <message>
        <source>It is no text in UTF-8.</source>
        <translation>Die Datei ist kein Text in UTF-8.</translation>
    </message>
    <message>
        <source>Its format is version {given}, this app has {version}.</source>
        <translation>Ihr Format hat Version {given}, das dieser App {version}.</translation>
    </message>
    <message>
        <source>Its library is version {schema}, this app has {schema2}.</source>
        <translation>Ihre Bibliothek hat Version {schema}, die dieser App {schema2}.</translation>
    </message>
    <message>
        <source>Its version is {version}, this app has {schema}.</source>
        <translation>Seine Version ist {version}, die dieser App {schema}.</translation>
    </message>
    <message>
        <source>Line {number} of {path} can&apos;t be read.</source>
        <translation>Zeile {number} von {path} kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Make one above the chat, or with `assistant add`.</source>
        <translation>Legen Sie einen über dem Chat an, oder mit `assistant add`.</translation>
    </message>
    <message>
        <source>Make one under Compare models in Settings.</source>
        <translation>Legen Sie eine unter „Modelle vergleichen“ in den Einstellungen an.</translation>
    </message>
    <message>
        <source>No more programs can be registered.</source>
        <translation>Mehr Programme können nicht eingetragen werden.</translation>
    </message>
    <message>
        <source>Not found in the sources: {named}.</source>
        <translation>In den Quellen nicht gefunden: {named}.</translation>
    </message>
    <message>
        <source>Pictures without a description are not read: {count}.</source>
        <translation>Bilder ohne Beschreibung werden nicht gelesen: {count}.</translation>
    </message>
    <message>
        <source>Set `engine` under [store] in the settings file to one of: {engine_names}.</source>
        <translation>Setzen Sie in der Einstellungsdatei unter [store] `engine` auf eines von: {engine_names}.</translation>
    </message>
    <message>
        <source>Set an endpoint in Settings, or remove the image. Without one, the text in images can be read with the extra “ocr”: Settings › Documents says how.</source>
        <translation>Tragen Sie in den Einstellungen einen Endpunkt ein, oder entfernen Sie das Bild. Ohne ihn kann Text in Bildern mit der Erweiterung „ocr“ gelesen werden: Einstellungen › Dokumente sagt, wie.</translation>
    </message>
    <message>
        <source>Slide {count} can&apos;t be read.</source>
        <translation>Folie {count} kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The certificate has expired.</source>
        <translation>Das Zertifikat ist abgelaufen.</translation>
    </message>
    <message>
        <source>The certificate is not valid yet.</source>
        <translation>Das Zertifikat gilt noch nicht.</translation>
    </message>
    <message>
        <source>The endpoint sent nothing for too long.</source>
        <translation>Der Endpunkt hat zu lange nichts gesendet.</translation>
    </message>
    <message>
        <source>The model takes {needed:.1f} GB, and {free:.1f} GB are free.</source>
        <translation>Das Modell braucht {needed:.1f} GB, und {free:.1f} GB sind frei.</translation>
    </message>
    <message>
        <source>The part of the app that reads files does not start.</source>
        <translation>Der Teil der App, der Dateien liest, startet nicht.</translation>
    </message>
    <message>
        <source>The programs can&apos;t be kept.</source>
        <translation>Die Programme können nicht aufbewahrt werden.</translation>
    </message>
    <message>
        <source>The token of the user is not valid.</source>
        <translation>Das Token des Benutzers ist nicht gültig.</translation>
    </message>
    <message>
        <source>This package can&apos;t be extended. In the source folder: pipx install &apos;.[{extra}]&apos;</source>
        <translation>Dieses Paket lässt sich nicht erweitern. Im Quellordner: pipx install &apos;.[{extra}]&apos;</translation>
    </message>
    <message>
        <source>To have them read, install the extra “ocr”: Settings › Documents says how.</source>
        <translation>Damit sie gelesen werden, installieren Sie die Erweiterung „ocr“: Einstellungen › Dokumente sagt, wie.</translation>
    </message>
    <message>
        <source>Web pages</source>
        <translation>Webseiten</translation>
    </message>
    <message>
        <source>What was fetched is kept: continue to fetch the rest.</source>
        <translation>Was geholt wurde, bleibt: Fortsetzen holt den Rest.</translation>
    </message>
    <message>
        <source>Writes JSON by a schema.</source>
        <translation>Schreibt JSON nach einem Schema.</translation>
    </message>
    <message>
        <source>Writes no JSON by a schema.</source>
        <translation>Schreibt kein JSON nach einem Schema.</translation>
    </message>
    <message>
        <source>http://localhost:23119/</source>
        <translation>http://localhost:23119/</translation>
    </message>
    <message>
        <source>https://drive.google.com/</source>
        <translation>https://drive.google.com/</translation>
    </message>
    <message>
        <source>is missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>it does not say where it is asked</source>
        <translation>er sagt nicht, wo er zu fragen ist</translation>
    </message>
    <message>
        <source>it is not of WebDAV</source>
        <translation>sie ist nicht von WebDAV</translation>
    </message>
    <message>
        <source>it names another issuer</source>
        <translation>er nennt einen anderen Aussteller</translation>
    </message>
    <message>
        <source>it sent no ID token</source>
        <translation>er hat kein ID-Token geschickt</translation>
    </message>
    <message>
        <source>its answer is no JSON</source>
        <translation>seine Antwort ist kein JSON</translation>
    </message>
    <message>
        <source>its answer is too large</source>
        <translation>seine Antwort ist zu groß</translation>
    </message>
    <message>
        <source>its answer names another issuer</source>
        <translation>seine Antwort nennt einen anderen Aussteller</translation>
    </message>
    <message>
        <source>its token is for another login</source>
        <translation>sein Token gehört zu einer anderen Anmeldung</translation>
    </message>
    <message>
        <source>its token is not valid</source>
        <translation>sein Token ist nicht gültig</translation>
    </message>
    <message>
        <source>larger than {most_bytes} MB</source>
        <translation>größer als {most_bytes} MB</translation>
    </message>
    <message>
        <source>name, assistant, model, base_url, collection, room</source>
        <translation>name, assistant, model, base_url, collection, room</translation>
    </message>
    <message>
        <source>one of its addresses is not https</source>
        <translation>eine seiner Adressen ist nicht https</translation>
    </message>
    <message>
        <source>under Settings → Models → Transcription</source>
        <translation>unter Einstellungen → Modelle → Transkription</translation>
    </message>
    <message>
        <source>{filename}: a change could not be saved.</source>
        <translation>{filename}: Eine Änderung konnte nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>{file} can&apos;t be used.</source>
        <translation>{file} kann nicht verwendet werden.</translation>
    </message>
    <message>
        <source>{mean_ms:,.1f} ms, {calls:,} times: {text}</source>
        <translation>{mean_ms:,.1f} ms, {calls:,} Mal: {text}</translation>
    </message>
    <message>
        <source>{milliseconds:,} ms by {kind}</source>
        <translation>{milliseconds:,} ms nach {kind}</translation>
    </message>
    <message>
        <source>{path} (version {found}, this app knows {schema}) was left as it is. Update the app to open it.</source>
        <translation>{path} (Version {found}, diese App kennt {schema}) blieb, wie sie ist. Aktualisieren Sie die App, um sie zu öffnen.</translation>
    </message>
    <message>
        <source>{path} can&apos;t be read.</source>
        <translation>{path} kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Give the whole path of the program.</source>
        <translation>Geben Sie den ganzen Pfad des Programms an.</translation>
    </message>
    <message>
        <source>Such as /usr/bin/rsync.</source>
        <translation>Etwa /usr/bin/rsync.</translation>
    </message>
    <message>
        <source>Batch files are run by a shell, which reads the arguments anew.</source>
        <translation>Batchdateien führt eine Shell aus, die die Argumente neu liest.</translation>
    </message>
    <message>
        <source>Register the program itself.</source>
        <translation>Tragen Sie das Programm selbst ein.</translation>
    </message>
    <message>
        <source>{path} is no program that you may run.</source>
        <translation>{path} ist kein Programm, das Sie ausführen dürfen.</translation>
    </message>
    <message>
        <source>Everybody on this computer may change {path}.</source>
        <translation>Alle auf diesem Computer dürfen {path} ändern.</translation>
    </message>
    <message>
        <source>Take that right from others first.</source>
        <translation>Nehmen Sie den anderen zuerst dieses Recht.</translation>
    </message>
    <message>
        <source>{path} can&apos;t be started.</source>
        <translation>{path} kann nicht gestartet werden.</translation>
    </message>
    <message>
        <source>The program needs a name.</source>
        <translation>Das Programm braucht einen Namen.</translation>
    </message>
    <message>
        <source>A few words, such as “Backup of my photos”.</source>
        <translation>Ein paar Wörter, etwa „Sicherung meiner Fotos“.</translation>
    </message>
    <message>
        <source>A program may run for 1 to {most} seconds.</source>
        <translation>Ein Programm darf 1 bis {most} Sekunden laufen.</translation>
    </message>
    <message>
        <source>These are too many arguments.</source>
        <translation>Das sind zu viele Argumente.</translation>
    </message>
    <message>
        <source>Put them into a script.</source>
        <translation>Schreiben Sie sie in ein Skript.</translation>
    </message>
    <message>
        <source>A character can&apos;t be used here.</source>
        <translation>Ein Zeichen kann hier nicht verwendet werden.</translation>
    </message>
    <message>
        <source>“{sentence}” must name each slot once.</source>
        <translation>„{sentence}“ muss jede Lücke einmal nennen.</translation>
    </message>
    <message>
        <source>A sentence needs words besides its slots.</source>
        <translation>Ein Satz braucht Wörter außer seinen Lücken.</translation>
    </message>
    <message>
        <source>“{name}” has no usable value.</source>
        <translation>„{name}“ hat keinen brauchbaren Wert.</translation>
    </message>
    <message>
        <source>“{name}” must be a number, and is “{value}”.</source>
        <translation>„{name}“ muss eine Zahl sein und ist „{value}“.</translation>
    </message>
    <message>
        <source>A value must not begin with a dash or a slash.</source>
        <translation>Ein Wert darf nicht mit einem Strich oder Schrägstrich beginnen.</translation>
    </message>
    <message>
        <source>No answer was judged by both, so their agreement is not known.</source>
        <translation>Keine Antwort wurde von beiden beurteilt, daher ist nicht bekannt, ob sie übereinstimmen.</translation>
    </message>
    <message>
        <source>Agreement beyond chance {kappa:.2f}, between {low:.2f} and {high:.2f}, over {count:,} judged by both.</source>
        <translation>Übereinstimmung über den Zufall hinaus {kappa:.2f}, zwischen {low:.2f} und {high:.2f}, bei {count:,} von beiden beurteilten Antworten.</translation>
    </message>
    <message>
        <source>The model judges as people do here; it can judge the rest.</source>
        <translation>Das Modell urteilt hier wie Menschen; es kann den Rest beurteilen.</translation>
    </message>
    <message>
        <source>The model judges otherwise than people; don&apos;t rely on it here.</source>
        <translation>Das Modell urteilt anders als Menschen; verlassen Sie sich hier nicht darauf.</translation>
    </message>
    <message>
        <source>They seem to agree, but on too few to be sure; judge more.</source>
        <translation>Sie scheinen übereinzustimmen, aber bei zu wenigen, um sicher zu sein; beurteilen Sie mehr.</translation>
    </message>
    <message>
        <source>They agree in part; look at the answers on which they differ.</source>
        <translation>Sie stimmen zum Teil überein; sehen Sie sich die Antworten an, bei denen sie sich unterscheiden.</translation>
    </message>
    <message>
        <source>They hardly agree; judge more, or don&apos;t rely on the model.</source>
        <translation>Sie stimmen kaum überein; beurteilen Sie mehr, oder verlassen Sie sich nicht auf das Modell.</translation>
    </message>
    <message>
        <source>your judgement</source>
        <translation>Ihr Urteil</translation>
    </message>
    <message>
        <source>the known answers of the set</source>
        <translation>die bekannten Antworten des Fragensatzes</translation>
    </message>
    <message>
        <source>the model&apos;s judgement</source>
        <translation>das Urteil des Modells</translation>
    </message>
    <message>
        <source>the model&apos;s comparison with the expected answer</source>
        <translation>der Vergleich des Modells mit der erwarteten Antwort</translation>
    </message>
    <message>
        <source>the words of the expected answer</source>
        <translation>die Wörter der erwarteten Antwort</translation>
    </message>
    <message>
        <source>A topic has no name.</source>
        <translation>Ein Thema hat keinen Namen.</translation>
    </message>
    <message>
        <source>The name “{name}” has a sign that names can&apos;t have: quotation marks, or #, or $ at its beginning.</source>
        <translation>Der Name „{name}“ enthält ein Zeichen, das Namen nicht haben dürfen: Anführungszeichen, # oder $ am Anfang.</translation>
    </message>
    <message>
        <source>Two topics have the name “{name}”.</source>
        <translation>Zwei Themen haben den Namen „{name}“.</translation>
    </message>
    <message>
        <source>The topic “{name}” has no example sentence.</source>
        <translation>Das Thema „{name}“ hat keinen Beispielsatz.</translation>
    </message>
    <message>
        <source>The topic “{name}” has an example without words.</source>
        <translation>Das Thema „{name}“ hat ein Beispiel ohne Wörter.</translation>
    </message>
    <message>
        <source>The topic “{name}” says nothing yet: write its text.</source>
        <translation>Das Thema „{name}“ sagt noch nichts: Schreiben Sie seinen Text.</translation>
    </message>
    <message>
        <source>It is shown as it is and never changed here.</source>
        <translation>Es wird gezeigt, wie es ist, und hier nie geändert.</translation>
    </message>
    <message>
        <source>“{name}” has not one flow.</source>
        <translation>„{name}“ hat nicht genau einen Ablauf.</translation>
    </message>
    <message>
        <source>“{name}” is said by no topic.</source>
        <translation>„{name}“ wird von keinem Thema gesagt.</translation>
    </message>
    <message>
        <source>These topics can&apos;t be written as a file.</source>
        <translation>Diese Themen können nicht als Datei geschrieben werden.</translation>
    </message>
    <message>
        <source>A text of several lines.</source>
        <translation>Ein Text mit mehreren Zeilen.</translation>
    </message>
    <message>
        <source>A comment within the topics.</source>
        <translation>Ein Kommentar innerhalb der Themen.</translation>
    </message>
    <message>
        <source>“{name}” is defined twice.</source>
        <translation>„{name}“ ist zweimal festgelegt.</translation>
    </message>
    <message>
        <source>“{name}” takes any sentence.</source>
        <translation>„{name}“ nimmt jeden Satz an.</translation>
    </message>
    <message>
        <source>“{name}” is a text of the app itself.</source>
        <translation>„{name}“ ist ein Text der App selbst.</translation>
    </message>
    <message>
        <source>A flow that is more than a topic.</source>
        <translation>Ein Ablauf, der mehr ist als ein Thema.</translation>
    </message>
    <message>
        <source>“{name}” has no examples in this file.</source>
        <translation>„{name}“ hat in dieser Datei keine Beispiele.</translation>
    </message>
    <message>
        <source>“{name}” has no text in this file.</source>
        <translation>„{name}“ hat in dieser Datei keinen Text.</translation>
    </message>
    <message>
        <source>Right answer</source>
        <translation>Richtige Antwort</translation>
    </message>
    <message>
        <source>Write the right answer, to expect it from now on</source>
        <translation>Schreiben Sie die richtige Antwort, damit sie künftig erwartet wird</translation>
    </message>
    <message>
        <source>Previous question</source>
        <translation>Vorige Frage</translation>
    </message>
    <message>
        <source>Next question</source>
        <translation>Nächste Frage</translation>
    </message>
    <message>
        <source>Expect this</source>
        <translation>Diese erwarten</translation>
    </message>
    <message>
        <source>Run on the left</source>
        <translation>Lauf links</translation>
    </message>
    <message>
        <source>Run on the right</source>
        <translation>Lauf rechts</translation>
    </message>
    <message>
        <source>Answer on the left</source>
        <translation>Antwort links</translation>
    </message>
    <message>
        <source>Answer on the right</source>
        <translation>Antwort rechts</translation>
    </message>
    <message>
        <source>Expected: {text}</source>
        <translation>Erwartet: {text}</translation>
    </message>
    <message>
        <source>Not answered yet.</source>
        <translation>Noch nicht beantwortet.</translation>
    </message>
    <message>
        <source>Judge blind</source>
        <translation>Blind beurteilen</translation>
    </message>
    <message>
        <source>Answer {number}</source>
        <translation>Antwort {number}</translation>
    </message>
    <message>
        <source>Comment</source>
        <translation>Anmerkung</translation>
    </message>
    <message>
        <source>Comment, if you like</source>
        <translation>Anmerkung, wenn Sie mögen</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>Überspringen</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>1, 2 and 3 choose, S skips, Backspace goes back.</source>
        <translation>1, 2 und 3 wählen, S überspringt, die Rücktaste geht zurück.</translation>
    </message>
    <message>
        <source>1 to 5 choose, S skips, Backspace goes back.</source>
        <translation>1 bis 5 wählen, S überspringt, die Rücktaste geht zurück.</translation>
    </message>
    <message>
        <source>Left is better</source>
        <translation>Links ist besser</translation>
    </message>
    <message>
        <source>Same</source>
        <translation>Gleich</translation>
    </message>
    <message>
        <source>Right is better</source>
        <translation>Rechts ist besser</translation>
    </message>
    <message>
        <source>You said: {words}</source>
        <translation>Sie sagten: {words}</translation>
    </message>
    <message>
        <source>1, wrong or useless</source>
        <translation>1, falsch oder unbrauchbar</translation>
    </message>
    <message>
        <source>5, right and complete</source>
        <translation>5, richtig und vollständig</translation>
    </message>
    <message>
        <source>{number:,} of {count:,}</source>
        <translation>{number:,} von {count:,}</translation>
    </message>
    <message>
        <source>Questions and answers</source>
        <translation>Fragen und Antworten</translation>
    </message>
    <message>
        <source>The PDF could not be written.</source>
        <translation>Das PDF konnte nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>only quotes</source>
        <translation>zitiert nur</translation>
    </message>
    <message>
        <source>being answered</source>
        <translation>wird beantwortet</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
    <message>
        <source>No runs yet.</source>
        <translation>Noch keine Läufe.</translation>
    </message>
    <message>
        <source>score {share:.0f} %</source>
        <translation>Bewertung {share:.0f} %</translation>
    </message>
    <message>
        <source>preferred {share:.0f} %</source>
        <translation>bevorzugt {share:.0f} %</translation>
    </message>
    <message>
        <source>backed by sources {share:.0f} %</source>
        <translation>durch Quellen belegt {share:.0f} %</translation>
    </message>
    <message>
        <source>Begun {time}</source>
        <translation>Begonnen {time}</translation>
    </message>
    <message>
        <source>Model: {name}</source>
        <translation>Modell: {name}</translation>
    </message>
    <message>
        <source>{done:,} of {total:,}</source>
        <translation>{done:,} von {total:,}</translation>
    </message>
    <message>
        <source>cost {cost:,.4g}</source>
        <translation>Kosten {cost:,.4g}</translation>
    </message>
    <message>
        <source>One question a line. What follows =&gt; is the answer you expect, if you know one; words that begin with # are tags: When is the lamp lit? =&gt; At dusk. #sea</source>
        <translation>Eine Frage je Zeile. Was auf =&gt; folgt, ist die Antwort, die Sie erwarten, falls Sie eine kennen; Wörter, die mit # beginnen, sind Schlagwörter: Wann brennt die Lampe? =&gt; Bei Dämmerung. #meer</translation>
    </message>
    <message>
        <source>Name of the set</source>
        <translation>Name des Fragensatzes</translation>
    </message>
    <message>
        <source>Questions, one a line</source>
        <translation>Fragen, eine je Zeile</translation>
    </message>
    <message>
        <source>There is no question yet. Write at least one.</source>
        <translation>Es gibt noch keine Frage. Schreiben Sie mindestens eine.</translation>
    </message>
    <message>
        <source>Your rails</source>
        <translation>Ihre Leitplanken</translation>
    </message>
    <message>
        <source>guardrails, topics, forbidden, refuse, small talk, flows, Colang, limits</source>
        <translation>Leitplanken, Themen, verboten, ablehnen, Plaudern, Abläufe, Colang, Grenzen</translation>
    </message>
    <message>
        <source>New rails…</source>
        <translation>Neue Leitplanken…</translation>
    </message>
    <message>
        <source>guardrails, make rules for an assistant</source>
        <translation>Leitplanken, Regeln für einen Assistenten</translation>
    </message>
    <message>
        <source>Open a folder…</source>
        <translation>Ordner öffnen…</translation>
    </message>
    <message>
        <source>guardrails, Colang files</source>
        <translation>Leitplanken, Colang-Dateien</translation>
    </message>
    <message>
        <source>programs, scripts, run, execute, actions, tools, consent</source>
        <translation>Programme, Skripte, ausführen, Aktionen, Werkzeuge, Zustimmung</translation>
    </message>
    <message>
        <source>script, run a program, allow, tools</source>
        <translation>Skript, Programm ausführen, erlauben, Werkzeuge</translation>
    </message>
    <message>
        <source>clear history of programs, erase</source>
        <translation>Verlauf der Programme leeren, löschen</translation>
    </message>
    <message>
        <source>Read the folder again</source>
        <translation>Den Ordner neu einlesen</translation>
    </message>
    <message>
        <source>New rails</source>
        <translation>Neue Leitplanken</translation>
    </message>
    <message>
        <source>A name for them, such as Museum</source>
        <translation>Ein Name dafür, etwa Museum</translation>
    </message>
    <message>
        <source>No assistant has these rails yet. Its form has them under Rails.</source>
        <translation>Noch kein Assistent hat diese Leitplanken. In seinem Formular stehen sie unter „Leitplanken“.</translation>
    </message>
    <message>
        <source>Used by {names}.</source>
        <translation>Verwendet von {names}.</translation>
    </message>
    <message>
        <source>Teach this to “{name}”</source>
        <translation>„{name}“ beibringen</translation>
    </message>
    <message>
        <source>“{name}” knows this sentence now.</source>
        <translation>„{name}“ kennt diesen Satz jetzt.</translation>
    </message>
    <message>
        <source>Several texts, with an empty line between them, are said in turn.</source>
        <translation>Mehrere Texte mit einer leeren Zeile dazwischen werden der Reihe nach gesagt.</translation>
    </message>
    <message>
        <source>Said after the person&apos;s answer. Without a text, that answer goes to the documents, together with the question before it.</source>
        <translation>Wird nach der Antwort der Person gesagt. Ohne Text geht diese Antwort an die Dokumente, zusammen mit der Frage davor.</translation>
    </message>
    <message>
        <source>These sentences are answered as always. Such a topic keeps questions to the documents apart from topics that sound alike.</source>
        <translation>Diese Sätze werden wie immer beantwortet. Ein solches Thema hält Fragen an die Dokumente von Themen getrennt, die ähnlich klingen.</translation>
    </message>
    <message>
        <source>Name of the topic</source>
        <translation>Name des Themas</translation>
    </message>
    <message>
        <source>ask for the price</source>
        <translation>nach dem Preis fragen</translation>
    </message>
    <message>
        <source>Example sentences</source>
        <translation>Beispielsätze</translation>
    </message>
    <message>
        <source>How much is a ticket?
What does it cost to get in?</source>
        <translation>Wie viel kostet eine Karte?
Was kostet der Eintritt?</translation>
    </message>
    <message>
        <source>What happens</source>
        <translation>Was geschieht</translation>
    </message>
    <message>
        <source>The text</source>
        <translation>Der Text</translation>
    </message>
    <message>
        <source>Then say</source>
        <translation>Dann sagen</translation>
    </message>
    <message>
        <source>Sentences, one a line</source>
        <translation>Sätze, einer je Zeile</translation>
    </message>
    <message>
        <source>Add topic</source>
        <translation>Thema hinzufügen</translation>
    </message>
    <message>
        <source>Remove topic</source>
        <translation>Thema entfernen</translation>
    </message>
    <message>
        <source>Move up</source>
        <translation>Nach oben</translation>
    </message>
    <message>
        <source>Move down</source>
        <translation>Nach unten</translation>
    </message>
    <message>
        <source>{name} ({key})</source>
        <translation>{name} ({key})</translation>
    </message>
    <message>
        <source>Answer from the documents</source>
        <translation>Aus den Dokumenten antworten</translation>
    </message>
    <message>
        <source>Say a given text</source>
        <translation>Einen vorgegebenen Text sagen</translation>
    </message>
    <message>
        <source>Refuse politely</source>
        <translation>Höflich ablehnen</translation>
    </message>
    <message>
        <source>Ask back</source>
        <translation>Zurückfragen</translation>
    </message>
    <message>
        <source>The refusal</source>
        <translation>Die Ablehnung</translation>
    </message>
    <message>
        <source>The question</source>
        <translation>Die Frage</translation>
    </message>
    <message>
        <source>I&apos;d rather not speak about that. I am glad to help with anything else.</source>
        <translation>Darüber möchte ich lieber nicht sprechen. Bei allem anderen helfe ich gern.</translation>
    </message>
    <message>
        <source>(no name)</source>
        <translation>(ohne Namen)</translation>
    </message>
    <message>
        <source>1 sentence</source>
        <translation>1 Satz</translation>
    </message>
    <message>
        <source>{count} sentences</source>
        <translation>{count} Sätze</translation>
    </message>
    <message>
        <source>Choose another set, or have questions made from the documents.</source>
        <translation>Wählen Sie einen anderen Fragensatz, oder lassen Sie Fragen aus den Dokumenten machen.</translation>
    </message>
    <message>
        <source>No question is known to be answered by these documents.</source>
        <translation>Von keiner Frage ist bekannt, dass diese Dokumente sie beantworten.</translation>
    </message>
    <message>
        <source>This collection is gone.</source>
        <translation>Diese Sammlung gibt es nicht mehr.</translation>
    </message>
    <message>
        <source>Choose another one.</source>
        <translation>Wählen Sie eine andere.</translation>
    </message>
    <message>
        <source>Drawn by chance</source>
        <translation>Zufällig gezogen</translation>
    </message>
    <message>
        <source>Evenly over the tags</source>
        <translation>Gleichmäßig über die Schlagwörter</translation>
    </message>
    <message>
        <source>Evenly over better, worse and same so far</source>
        <translation>Gleichmäßig über bisher besser, schlechter und gleich</translation>
    </message>
    <message>
        <source>“{model}”, the helper model, compares the two answers to each question by this rubric, in both orders. Another rubric has them compared anew.</source>
        <translation>„{model}“, das Hilfsmodell, vergleicht die beiden Antworten auf jede Frage nach diesem Maßstab, in beiden Reihenfolgen. Mit einem anderen Maßstab werden sie neu verglichen.</translation>
    </message>
    <message>
        <source>“{model}” wrote some of these answers itself, and models favour their own. Choose another helper model under Models, or judge blind.</source>
        <translation>„{model}“ hat einen Teil dieser Antworten selbst geschrieben, und Modelle ziehen ihre eigenen vor. Wählen Sie unter Modelle ein anderes Hilfsmodell, oder urteilen Sie blind.</translation>
    </message>
    <message>
        <source>Answers are shown without names. What you judged before is left out.</source>
        <translation>Antworten werden ohne Namen gezeigt. Was Sie schon beurteilt haben, fehlt.</translation>
    </message>
    <message>
        <source>All {count:,}</source>
        <translation>Alle {count:,}</translation>
    </message>
    <message>
        <source>How many questions</source>
        <translation>Wie viele Fragen</translation>
    </message>
    <message>
        <source>Which questions are drawn</source>
        <translation>Welche Fragen gezogen werden</translation>
    </message>
    <message>
        <source>Rubric</source>
        <translation>Maßstab</translation>
    </message>
    <message>
        <source>Reset the rubric</source>
        <translation>Maßstab zurücksetzen</translation>
    </message>
    <message>
        <source>Begin</source>
        <translation>Beginnen</translation>
    </message>
    <message>
        <source>Sample</source>
        <translation>Stichprobe</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>Gezogen</translation>
    </message>
    <message>
        <source>Audio and video files become searchable by what is said in them. A server turns them into text: one on this computer, such as that of whisper.cpp, or an online service. Without one, recordings are skipped.</source>
        <translation>Audio- und Videodateien werden nach dem durchsuchbar, was in ihnen gesagt wird. Ein Server macht Text daraus: einer auf diesem Computer, etwa der von whisper.cpp, oder ein Online-Dienst. Ohne einen werden Aufnahmen übersprungen.</translation>
    </message>
    <message>
        <source>Endpoint added: {name}</source>
        <translation>Endpunkt hinzugefügt: {name}</translation>
    </message>
    <message>
        <source>Endpoint removed: {name}</source>
        <translation>Endpunkt entfernt: {name}</translation>
    </message>
    <message>
        <source>Endpoint for answers</source>
        <translation>Endpunkt für Antworten</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>Server key</source>
        <translation>Serverschlüssel</translation>
    </message>
    <message>
        <source>Without an address, recordings are skipped.</source>
        <translation>Ohne Adresse werden Aufnahmen übersprungen.</translation>
    </message>
    <message>
        <source>This is your own computer. Recordings don&apos;t leave it.</source>
        <translation>Das ist Ihr eigener Computer. Aufnahmen verlassen ihn nicht.</translation>
    </message>
    <message>
        <source>Recordings are sent to {host}.</source>
        <translation>Aufnahmen werden an {host} gesendet.</translation>
    </message>
    <message>
        <source>Nothing is sent to {host} until you agree below.</source>
        <translation>Nichts wird an {host} gesendet, bis Sie unten zustimmen.</translation>
    </message>
    <message>
        <source>What connects to PostgreSQL is not installed.</source>
        <translation>Was mit PostgreSQL verbindet, ist nicht installiert.</translation>
    </message>
    <message>
        <source>The file with the certificate is not there.</source>
        <translation>Die Datei mit dem Zertifikat ist nicht da.</translation>
    </message>
    <message>
        <source>Choose another file, or leave the field empty.</source>
        <translation>Wählen Sie eine andere Datei, oder lassen Sie das Feld leer.</translation>
    </message>
    <message>
        <source>The server asks for a password.</source>
        <translation>Der Server verlangt ein Passwort.</translation>
    </message>
    <message>
        <source>Enter the password of the role.</source>
        <translation>Geben Sie das Passwort der Rolle ein.</translation>
    </message>
    <message>
        <source>It says: {reason}</source>
        <translation>Er sagt: {reason}</translation>
    </message>
    <message>
        <source>The server can&apos;t be reached.</source>
        <translation>Der Server ist nicht erreichbar.</translation>
    </message>
    <message>
        <source>Check the address and the port, whether the server runs, and whether this computer is in its network.</source>
        <translation>Prüfen Sie die Adresse und den Port, ob der Server läuft und ob dieser Computer in seinem Netz ist.</translation>
    </message>
    <message>
        <source>The server refuses the connection.</source>
        <translation>Der Server lehnt die Verbindung ab.</translation>
    </message>
    <message>
        <source>The server offers no encryption.</source>
        <translation>Der Server bietet keine Verschlüsselung an.</translation>
    </message>
    <message>
        <source>Ask whoever runs it to switch TLS on. “No encryption” is only for this computer or a network that you trust.</source>
        <translation>Bitten Sie den Betreiber, TLS einzuschalten. „Keine Verschlüsselung“ ist nur für diesen Computer oder ein Netz, dem Sie vertrauen.</translation>
    </message>
    <message>
        <source>The server&apos;s certificate is not trusted.</source>
        <translation>Dem Zertifikat des Servers wird nicht vertraut.</translation>
    </message>
    <message>
        <source>Choose the file with the certificate of its authority, or check that the address is the name in the certificate.</source>
        <translation>Wählen Sie die Datei mit dem Zertifikat seiner Zertifizierungsstelle, oder prüfen Sie, ob die Adresse der Name im Zertifikat ist.</translation>
    </message>
    <message>
        <source>The encrypted connection can&apos;t be set up.</source>
        <translation>Die verschlüsselte Verbindung kommt nicht zustande.</translation>
    </message>
    <message>
        <source>Choose the file with the certificate of the server&apos;s authority, or ask whoever runs it.</source>
        <translation>Wählen Sie die Datei mit dem Zertifikat der Zertifizierungsstelle des Servers, oder fragen Sie den Betreiber.</translation>
    </message>
    <message>
        <source>The server accepts encrypted connections only, or none from this computer.</source>
        <translation>Der Server nimmt nur verschlüsselte Verbindungen an, oder keine von diesem Computer.</translation>
    </message>
    <message>
        <source>Choose an encrypted connection. If that fails too, ask whoever runs the server to allow this computer.</source>
        <translation>Wählen Sie eine verschlüsselte Verbindung. Wenn auch das fehlschlägt, bitten Sie den Betreiber des Servers, diesen Computer zuzulassen.</translation>
    </message>
    <message>
        <source>The server does not let this computer in.</source>
        <translation>Der Server lässt diesen Computer nicht herein.</translation>
    </message>
    <message>
        <source>Ask whoever runs it to allow the role {role} from here (pg_hba.conf).</source>
        <translation>Bitten Sie den Betreiber, die Rolle {role} von hier zuzulassen (pg_hba.conf).</translation>
    </message>
    <message>
        <source>The role or the password is wrong.</source>
        <translation>Die Rolle oder das Passwort ist falsch.</translation>
    </message>
    <message>
        <source>Check the role {role} and enter its password again.</source>
        <translation>Prüfen Sie die Rolle {role} und geben Sie ihr Passwort noch einmal ein.</translation>
    </message>
    <message>
        <source>There is no such role on the server.</source>
        <translation>Diese Rolle gibt es auf dem Server nicht.</translation>
    </message>
    <message>
        <source>Check the role {role}, or ask whoever runs the server to create it.</source>
        <translation>Prüfen Sie die Rolle {role}, oder bitten Sie den Betreiber des Servers, sie anzulegen.</translation>
    </message>
    <message>
        <source>The role may not use the database.</source>
        <translation>Die Rolle darf die Datenbank nicht benutzen.</translation>
    </message>
    <message>
        <source>Ask whoever runs the server for: GRANT CONNECT ON DATABASE {database} TO {role}.</source>
        <translation>Bitten Sie den Betreiber des Servers um: GRANT CONNECT ON DATABASE {database} TO {role}.</translation>
    </message>
    <message>
        <source>There is no database of that name on the server.</source>
        <translation>Eine Datenbank dieses Namens gibt es auf dem Server nicht.</translation>
    </message>
    <message>
        <source>Check the name {database}, or ask whoever runs the server.</source>
        <translation>Prüfen Sie den Namen {database}, oder fragen Sie den Betreiber des Servers.</translation>
    </message>
    <message>
        <source>The server has no connection left.</source>
        <translation>Der Server hat keine Verbindung mehr frei.</translation>
    </message>
    <message>
        <source>Try again later, or ask whoever runs the server to allow more.</source>
        <translation>Versuchen Sie es später noch einmal, oder bitten Sie den Betreiber des Servers, mehr zuzulassen.</translation>
    </message>
    <message>
        <source>The server is starting or stopping.</source>
        <translation>Der Server startet oder hält gerade an.</translation>
    </message>
    <message>
        <source>Try again in a moment.</source>
        <translation>Versuchen Sie es gleich noch einmal.</translation>
    </message>
    <message>
        <source>PostgreSQL on the server is too old.</source>
        <translation>PostgreSQL auf dem Server ist zu alt.</translation>
    </message>
    <message>
        <source>It is version {found}; the library needs {least} or newer. Ask whoever runs the server.</source>
        <translation>Es ist Version {found}; die Bibliothek braucht {least} oder neuer. Fragen Sie den Betreiber des Servers.</translation>
    </message>
    <message>
        <source>The database has no pgvector.</source>
        <translation>Die Datenbank hat kein pgvector.</translation>
    </message>
    <message>
        <source>Ask whoever runs the server to install it (on Debian postgresql-18-pgvector) and to run CREATE EXTENSION vector in the database.</source>
        <translation>Bitten Sie den Betreiber des Servers, es zu installieren (auf Debian postgresql-18-pgvector) und in der Datenbank CREATE EXTENSION vector auszuführen.</translation>
    </message>
    <message>
        <source>pgvector on the server is too old.</source>
        <translation>pgvector auf dem Server ist zu alt.</translation>
    </message>
    <message>
        <source>It has: {names}.</source>
        <translation>Sie hat: {names}.</translation>
    </message>
    <message>
        <source>It has none yet.</source>
        <translation>Sie hat noch keine.</translation>
    </message>
    <message>
        <source>Check the name, or copy a library there: desktop-rag copy.</source>
        <translation>Prüfen Sie den Namen, oder kopieren Sie eine Bibliothek dorthin: desktop-rag copy.</translation>
    </message>
    <message>
        <source>There is no library of that name in the database.</source>
        <translation>Eine Bibliothek dieses Namens gibt es in der Datenbank nicht.</translation>
    </message>
    <message>
        <source>The role has no right to read the library.</source>
        <translation>Die Rolle darf die Bibliothek nicht lesen.</translation>
    </message>
    <message>
        <source>Ask whoever runs the server for: {statements}</source>
        <translation>Bitten Sie den Betreiber des Servers um: {statements}</translation>
    </message>
    <message>
        <source>The shared library is from a newer version of the app.</source>
        <translation>Die gemeinsame Bibliothek ist von einer neueren Version der App.</translation>
    </message>
    <message>
        <source>Update this app.</source>
        <translation>Aktualisieren Sie diese App.</translation>
    </message>
    <message>
        <source>The shared library is from an earlier version of the app.</source>
        <translation>Die gemeinsame Bibliothek ist von einer früheren Version der App.</translation>
    </message>
    <message>
        <source>Whoever runs it starts the new version there once; then try again.</source>
        <translation>Der Betreiber startet dort einmal die neue Version; dann versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>The role sees nothing of the library.</source>
        <translation>Die Rolle sieht nichts von der Bibliothek.</translation>
    </message>
    <message>
        <source>Ask whoever runs the server to let it read some collections: {some} Or all of them: {every}</source>
        <translation>Bitten Sie den Betreiber des Servers, sie einige Sammlungen lesen zu lassen: {some} Oder alle: {every}</translation>
    </message>
    <message>
        <source>All is well. PostgreSQL {server} with pgvector {vector}.</source>
        <translation>Alles in Ordnung. PostgreSQL {server} mit pgvector {vector}.</translation>
    </message>
    <message>
        <source>{passages} passages in {size}. {index}</source>
        <translation>{passages} Passagen in {size}. {index}</translation>
    </message>
    <message>
        <source>The connection is not encrypted.</source>
        <translation>Die Verbindung ist nicht verschlüsselt.</translation>
    </message>
    <message>
        <source>The index for meaning is built.</source>
        <translation>Der Index für die Bedeutung ist aufgebaut.</translation>
    </message>
    <message>
        <source>There is no index for meaning yet; a small library needs none.</source>
        <translation>Einen Index für die Bedeutung gibt es noch nicht; eine kleine Bibliothek braucht keinen.</translation>
    </message>
    <message>
        <source>It has no collections that this role may see.</source>
        <translation>Sie hat keine Sammlungen, die diese Rolle sehen darf.</translation>
    </message>
    <message>
        <source>Collections: {names}</source>
        <translation>Sammlungen: {names}</translation>
    </message>
    <message>
        <source>Slow queries are not recorded: the server has no pg_stat_statements.</source>
        <translation>Langsame Abfragen werden nicht aufgezeichnet: Der Server hat kein pg_stat_statements.</translation>
    </message>
    <message>
        <source>{ms} ms on average, {calls} times: {query}</source>
        <translation>{ms} ms im Mittel, {calls} Mal: {query}</translation>
    </message>
    <message>
        <source>Slowest queries:</source>
        <translation>Langsamste Abfragen:</translation>
    </message>
    <message>
        <source>Shared library</source>
        <translation>Gemeinsame Bibliothek</translation>
    </message>
    <message>
        <source>A library on a PostgreSQL server that several people use. Whoever runs it tells you these values. Your own library stays on this computer.</source>
        <translation>Eine Bibliothek auf einem PostgreSQL-Server, die mehrere Personen benutzen. Diese Angaben bekommen Sie von ihrem Betreiber. Ihre eigene Bibliothek bleibt auf diesem Computer.</translation>
    </message>
    <message>
        <source>Encrypted, certificate checked</source>
        <translation>Verschlüsselt, Zertifikat geprüft</translation>
    </message>
    <message>
        <source>Encrypted, certificate not checked</source>
        <translation>Verschlüsselt, Zertifikat nicht geprüft</translation>
    </message>
    <message>
        <source>No encryption</source>
        <translation>Keine Verschlüsselung</translation>
    </message>
    <message>
        <source>Without a file, the authorities that this computer trusts count.</source>
        <translation>Ohne Datei gelten die Zertifizierungsstellen, denen dieser Computer vertraut.</translation>
    </message>
    <message>
        <source>Nobody can listen in, but another computer could pose as the server.</source>
        <translation>Niemand kann mitlesen, aber ein anderer Computer könnte sich als der Server ausgeben.</translation>
    </message>
    <message>
        <source>Only for this computer or a network that you trust.</source>
        <translation>Nur für diesen Computer oder ein Netz, dem Sie vertrauen.</translation>
    </message>
    <message>
        <source>A password is saved for this address and role.</source>
        <translation>Für diese Adresse und Rolle ist ein Passwort gespeichert.</translation>
    </message>
    <message>
        <source>The password is kept until you close the app, because no keyring is available on this computer.</source>
        <translation>Das Passwort wird behalten, bis Sie die App schließen, denn auf diesem Computer ist kein Schlüsselbund verfügbar.</translation>
    </message>
    <message>
        <source>No password is saved for this address and role.</source>
        <translation>Für diese Adresse und Rolle ist kein Passwort gespeichert.</translation>
    </message>
    <message>
        <source>The authority&apos;s certificate, optional</source>
        <translation>Zertifikat der Zertifizierungsstelle, wahlweise</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>Disconnect</source>
        <translation>Trennen</translation>
    </message>
    <message>
        <source>Database</source>
        <translation>Datenbank</translation>
    </message>
    <message>
        <source>One database can hold several. It is usually called desktop_rag.</source>
        <translation>Eine Datenbank kann mehrere enthalten. Meist heißt sie desktop_rag.</translation>
    </message>
    <message>
        <source>PostgreSQL, team, colleagues, database server, share documents, together</source>
        <translation>PostgreSQL, Team, Kollegen, Datenbankserver, Dokumente teilen, gemeinsam</translation>
    </message>
    <message>
        <source>connect again, online, offline</source>
        <translation>neu verbinden, online, offline</translation>
    </message>
    <message>
        <source>host, URL, PostgreSQL server</source>
        <translation>Host, URL, PostgreSQL-Server</translation>
    </message>
    <message>
        <source>PostgreSQL, name</source>
        <translation>PostgreSQL, Name</translation>
    </message>
    <message>
        <source>schema, which library</source>
        <translation>Schema, welche Bibliothek</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Rolle</translation>
    </message>
    <message>
        <source>user name, account, sign in</source>
        <translation>Benutzername, Konto, anmelden</translation>
    </message>
    <message>
        <source>secret, credentials, sign in</source>
        <translation>Geheimnis, Zugangsdaten, anmelden</translation>
    </message>
    <message>
        <source>Encryption</source>
        <translation>Verschlüsselung</translation>
    </message>
    <message>
        <source>TLS, SSL, secure connection</source>
        <translation>TLS, SSL, sichere Verbindung</translation>
    </message>
    <message>
        <source>TLS, SSL, authority</source>
        <translation>TLS, SSL, Zertifizierungsstelle</translation>
    </message>
    <message>
        <source>connect, disconnect, try</source>
        <translation>verbinden, trennen, ausprobieren</translation>
    </message>
    <message>
        <source>Certificate</source>
        <translation>Zertifikat</translation>
    </message>
    <message>
        <source>Looking at the server…</source>
        <translation>Der Server wird angesehen…</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Verbindung wird hergestellt…</translation>
    </message>
    <message>
        <source>Disconnected. The password was deleted.</source>
        <translation>Getrennt. Das Passwort wurde gelöscht.</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Jetzt nicht</translation>
    </message>
    <message>
        <source>Pause pictures</source>
        <translation>Bilder anhalten</translation>
    </message>
    <message>
        <source>Resume pictures</source>
        <translation>Bilder weiterlesen</translation>
    </message>
    <message>
        <source>Everything else is searchable. The page Library has the answers to choose from.</source>
        <translation>Alles andere ist durchsuchbar. Auf der Seite Bibliothek können Sie antworten.</translation>
    </message>
    <message>
        <source>1 page</source>
        <translation>1 Seite</translation>
    </message>
    <message>
        <source>1 request</source>
        <translation>1 Anfrage</translation>
    </message>
    <message>
        <source>1 second</source>
        <translation>1 Sekunde</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 Token</translation>
    </message>
    <message>
        <source>: part {done} of {pieces}</source>
        <translation>: Teil {done} von {pieces}</translation>
    </message>
    <message>
        <source>A PEM file has lines such as -----BEGIN CERTIFICATE-----.</source>
        <translation>Eine PEM-Datei hat Zeilen wie -----BEGIN CERTIFICATE-----.</translation>
    </message>
    <message>
        <source>A change could not be saved.</source>
        <translation>Eine Änderung konnte nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>A collection can&apos;t be called “{name}”.</source>
        <translation>Eine Sammlung kann nicht „{name}“ heißen.</translation>
    </message>
    <message>
        <source>A document inside this one is not read.</source>
        <translation>Ein Dokument in diesem wird nicht gelesen.</translation>
    </message>
    <message>
        <source>A fetched file could not be moved.</source>
        <translation>Eine abgerufene Datei konnte nicht verschoben werden.</translation>
    </message>
    <message>
        <source>A fetched file could not be saved.</source>
        <translation>Eine abgerufene Datei konnte nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>A fetched page could not be saved.</source>
        <translation>Eine abgerufene Seite konnte nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>A few words find more than a text.</source>
        <translation>Wenige Wörter finden mehr als ein ganzer Text.</translation>
    </message>
    <message>
        <source>A file can have {most_tags} tags at most.</source>
        <translation>Eine Datei kann höchstens {most_tags} Schlagwörter haben.</translation>
    </message>
    <message>
        <source>A file inside it is damaged.</source>
        <translation>Eine darin enthaltene Datei ist beschädigt.</translation>
    </message>
    <message>
        <source>A folder can&apos;t be attached.</source>
        <translation>Ein Ordner kann nicht angehängt werden.</translation>
    </message>
    <message>
        <source>A folder does not answer.</source>
        <translation>Ein Ordner antwortet nicht.</translation>
    </message>
    <message>
        <source>A library on a server has no journal beside it.</source>
        <translation>Zu einer Bibliothek auf einem Server gibt es kein Journal.</translation>
    </message>
    <message>
        <source>A message inside it is damaged.</source>
        <translation>Eine darin enthaltene Nachricht ist beschädigt.</translation>
    </message>
    <message>
        <source>A part of the message is no text.</source>
        <translation>Ein Teil der Nachricht ist kein Text.</translation>
    </message>
    <message>
        <source>A part of {name} is in the library already.</source>
        <translation>Ein Teil von {name} ist schon in der Bibliothek.</translation>
    </message>
    <message>
        <source>A passage is too long for the embedding model.</source>
        <translation>Eine Textstelle ist zu lang für das Einbettungsmodell.</translation>
    </message>
    <message>
        <source>A program may have {most_slots} slots.</source>
        <translation>Ein Programm darf {most_slots} Lücken haben.</translation>
    </message>
    <message>
        <source>A program of another user answers in place of the app.</source>
        <translation>An der Stelle der App antwortet ein Programm eines anderen Benutzers.</translation>
    </message>
    <message>
        <source>A prompt has up to {longest_text:,} characters.</source>
        <translation>Eine Vorlage hat höchstens {longest_text:,} Zeichen.</translation>
    </message>
    <message>
        <source>A question has too many letters.</source>
        <translation>Eine Frage hat zu viele Zeichen.</translation>
    </message>
    <message>
        <source>A recording: there is no transcription of it.</source>
        <translation>Eine Aufnahme: Es gibt kein Transkript davon.</translation>
    </message>
    <message>
        <source>A second of sound came back with its times.</source>
        <translation>Eine Sekunde Ton kam mit Zeitangaben zurück.</translation>
    </message>
    <message>
        <source>A sent document could not be saved.</source>
        <translation>Ein von einem Programm gesendetes Dokument konnte nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>A set may have 20 MB.</source>
        <translation>Eine Fragensammlung darf 20 MB groß sein.</translation>
    </message>
    <message>
        <source>A short job was given up after {limit_s} seconds.</source>
        <translation>Eine kurze Aufgabe wurde nach {limit_s} Sekunden aufgegeben.</translation>
    </message>
    <message>
        <source>A source is in another language.</source>
        <translation>Eine Quelle ist in einer anderen Sprache.</translation>
    </message>
    <message>
        <source>A text has a character that can&apos;t be stored: NUL, or half a character.</source>
        <translation>Ein Text hat ein Zeichen, das nicht gespeichert werden kann: NUL oder ein halbes Zeichen.</translation>
    </message>
    <message>
        <source>A token is needed: Bearer drag-…</source>
        <translation>Ein Token wird gebraucht: Bearer drag-…</translation>
    </message>
    <message>
        <source>A valid token is needed.</source>
        <translation>Ein gültiges Token wird gebraucht.</translation>
    </message>
    <message>
        <source>A value is missing: {missing}.</source>
        <translation>Ein Wert fehlt: {missing}.</translation>
    </message>
    <message>
        <source>Add # and its name. For example http://localhost:11434/v1#nomic-embed-text.</source>
        <translation>Hängen Sie # und den Namen an. Zum Beispiel http://localhost:11434/v1#nomic-embed-text.</translation>
    </message>
    <message>
        <source>Add a folder first.</source>
        <translation>Fügen Sie zuerst einen Ordner hinzu.</translation>
    </message>
    <message>
        <source>Add credit at {host}, or choose another endpoint in Settings.</source>
        <translation>Laden Sie Ihr Guthaben bei {host} auf, oder wählen Sie in den Einstellungen einen anderen Endpunkt.</translation>
    </message>
    <message>
        <source>Add it to the library instead.</source>
        <translation>Nehmen Sie ihn stattdessen in die Bibliothek auf.</translation>
    </message>
    <message>
        <source>Add one: desktop-rag schedule add</source>
        <translation>Legen Sie eine an: desktop-rag schedule add</translation>
    </message>
    <message>
        <source>Add or fetch one first.</source>
        <translation>Fügen Sie erst eines hinzu, oder laden Sie eines herunter.</translation>
    </message>
    <message>
        <source>Add some first.</source>
        <translation>Fügen Sie zuerst welche hinzu.</translation>
    </message>
    <message>
        <source>Address already in use</source>
        <translation>Adresse wird bereits verwendet</translation>
    </message>
    <message>
        <source>All {count} files of the bundled model are unaltered.</source>
        <translation>Alle {count} Dateien des mitgelieferten Modells sind unverändert.</translation>
    </message>
    <message>
        <source>An answer is for {most_users} users at most.</source>
        <translation>Eine Antwort ist für höchstens {most_users} Benutzer.</translation>
    </message>
    <message>
        <source>An error in the app interrupted indexing.</source>
        <translation>Ein Fehler in der App hat das Indizieren unterbrochen.</translation>
    </message>
    <message>
        <source>An error in the app stopped this file. The log file has details.</source>
        <translation>Ein Fehler in der App hat diese Datei aufgehalten. Einzelheiten stehen in der Protokolldatei.</translation>
    </message>
    <message>
        <source>An index can only be taken into an empty library; chats and settings into any.</source>
        <translation>Ein Index kann nur in eine leere Bibliothek übernommen werden, Chats und Einstellungen in jede.</translation>
    </message>
    <message>
        <source>Another model is still answering.</source>
        <translation>Ein anderes Modell antwortet noch.</translation>
    </message>
    <message>
        <source>Another program answers in place of the app.</source>
        <translation>An der Stelle der App antwortet ein anderes Programm.</translation>
    </message>
    <message>
        <source>Another program uses this key.</source>
        <translation>Ein anderes Programm benutzt diese Taste.</translation>
    </message>
    <message>
        <source>Apple iWork</source>
        <translation>Apple iWork</translation>
    </message>
    <message>
        <source>Ask again: it is loaded anew. If that doesn&apos;t help, choose another model.</source>
        <translation>Fragen Sie noch einmal: Es wird neu geladen. Hilft das nicht, wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>Ask every file again.</source>
        <translation>Befragen Sie noch einmal jede Datei.</translation>
    </message>
    <message>
        <source>Ask for it again.</source>
        <translation>Bitten Sie noch einmal darum.</translation>
    </message>
    <message>
        <source>Ask it in the window.</source>
        <translation>Stellen Sie sie im Fenster.</translation>
    </message>
    <message>
        <source>Ask one first.</source>
        <translation>Stellen Sie zuerst eine Frage.</translation>
    </message>
    <message>
        <source>Ask whoever runs the server for the rights of the library&apos;s role.</source>
        <translation>Bitten Sie den Betreiber des Servers um die Rechte für die Rolle der Bibliothek.</translation>
    </message>
    <message>
        <source>Asking the table in {title}…</source>
        <translation>Die Tabelle in {title} wird befragt…</translation>
    </message>
    <message>
        <source>At most {most_images} images can be asked about at once.</source>
        <translation>Zu höchstens {most_images} Bildern kann auf einmal gefragt werden.</translation>
    </message>
    <message>
        <source>At most {streams} answers at a time.</source>
        <translation>Höchstens {streams} Antworten gleichzeitig.</translation>
    </message>
    <message>
        <source>Attach fewer or smaller pictures and files, or start a new chat.</source>
        <translation>Hängen Sie weniger oder kleinere Bilder und Dateien an, oder beginnen Sie einen neuen Chat.</translation>
    </message>
    <message>
        <source>Back are {counts}. Your folders are read again.</source>
        <translation>Wieder da sind: {counts}. Ihre Ordner werden neu gelesen.</translation>
    </message>
    <message>
        <source>Back up the server itself, as with pg_dump; chats and settings can be backed up here.</source>
        <translation>Sichern Sie den Server selbst, etwa mit pg_dump; Chats und Einstellungen können hier gesichert werden.</translation>
    </message>
    <message>
        <source>Begin a new one.</source>
        <translation>Beginnen Sie eine neue.</translation>
    </message>
    <message>
        <source>Being transcribed{part}.</source>
        <translation>Wird transkribiert{part}.</translation>
    </message>
    <message>
        <source>Bind “desktop-rag quick-ask” to a key in the settings of your desktop instead.</source>
        <translation>Belegen Sie stattdessen in den Einstellungen Ihres Desktops eine Taste mit „desktop-rag quick-ask“.</translation>
    </message>
    <message>
        <source>Can&apos;t search by itself: it answers from what is sent.</source>
        <translation>Kann nicht selbst suchen: antwortet aus dem, was gesendet wird.</translation>
    </message>
    <message>
        <source>Chats and folders disagree: {broken}.</source>
        <translation>Chats und Ordner passen nicht zusammen: {broken}.</translation>
    </message>
    <message>
        <source>Chats, folders and collections are complete.</source>
        <translation>Chats, Ordner und Sammlungen sind vollständig.</translation>
    </message>
    <message>
        <source>Check capital letters and the layout of the keyboard, then try again.</source>
        <translation>Prüfen Sie Großschreibung und Tastaturbelegung, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Check it, for example http://localhost:11434/v1.</source>
        <translation>Prüfen Sie sie; sie lautet zum Beispiel http://localhost:11434/v1.</translation>
    </message>
    <message>
        <source>Check that it runs and that its address is right; then try again.</source>
        <translation>Prüfen Sie, ob er läuft und ob seine Adresse stimmt; versuchen Sie es dann noch einmal.</translation>
    </message>
    <message>
        <source>Check that the address is that of a WebDAV folder.</source>
        <translation>Prüfen Sie, ob die Adresse die eines WebDAV-Ordners ist.</translation>
    </message>
    <message>
        <source>Check that the address is that of such a server.</source>
        <translation>Prüfen Sie, ob die Adresse die eines solchen Servers ist.</translation>
    </message>
    <message>
        <source>Check the address and the port {host} in Settings.</source>
        <translation>Prüfen Sie die Adresse und den Port {host} in den Einstellungen.</translation>
    </message>
    <message>
        <source>Check the address in Settings.</source>
        <translation>Prüfen Sie die Adresse in den Einstellungen.</translation>
    </message>
    <message>
        <source>Check the address {host} in Settings, and the network.</source>
        <translation>Prüfen Sie die Adresse {host} in den Einstellungen und das Netzwerk.</translation>
    </message>
    <message>
        <source>Check the address, and whether this computer is online.</source>
        <translation>Prüfen Sie die Adresse und ob dieser Computer online ist.</translation>
    </message>
    <message>
        <source>Check the connection to the disk or server and try again.</source>
        <translation>Prüfen Sie die Verbindung zum Datenträger oder Server, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Check the name.</source>
        <translation>Prüfen Sie den Namen.</translation>
    </message>
    <message>
        <source>Check the network.</source>
        <translation>Prüfen Sie das Netzwerk.</translation>
    </message>
    <message>
        <source>Check the permissions of the file, and that its disk is not read-only.</source>
        <translation>Prüfen Sie die Rechte der Datei und ob ihr Datenträger beschreibbar ist.</translation>
    </message>
    <message>
        <source>Check the proxy settings, or add {host} to NO_PROXY.</source>
        <translation>Prüfen Sie die Proxy-Einstellungen, oder nehmen Sie {host} in NO_PROXY auf.</translation>
    </message>
    <message>
        <source>Check {host} in Settings, and whether this computer is online.</source>
        <translation>Prüfen Sie {host} in den Einstellungen und ob dieser Computer online ist.</translation>
    </message>
    <message>
        <source>Check {host} in Settings. Have the certificate of your own server trusted here.</source>
        <translation>Prüfen Sie {host} in den Einstellungen. Bei einem eigenen Server muss dieser Computer dessen Zertifikat vertrauen.</translation>
    </message>
    <message>
        <source>Checking the file…</source>
        <translation>Die Datei wird geprüft…</translation>
    </message>
    <message>
        <source>Checks answers: {share}.</source>
        <translation>Prüft Antworten: {share}.</translation>
    </message>
    <message>
        <source>Choose a file that was exported as JSON.</source>
        <translation>Wählen Sie eine Datei, die als JSON exportiert wurde.</translation>
    </message>
    <message>
        <source>Choose a model for conversations; their names often end in “Instruct” or “it”.</source>
        <translation>Wählen Sie ein Modell für Gespräche; deren Namen enden oft auf „Instruct“ oder „it“.</translation>
    </message>
    <message>
        <source>Choose a name that is not empty and not in use.</source>
        <translation>Wählen Sie einen Namen, der nicht leer und noch frei ist.</translation>
    </message>
    <message>
        <source>Choose another assistant.</source>
        <translation>Wählen Sie einen anderen Assistenten.</translation>
    </message>
    <message>
        <source>Choose another endpoint in Settings.</source>
        <translation>Wählen Sie in den Einstellungen einen anderen Endpunkt.</translation>
    </message>
    <message>
        <source>Choose another model above the chat, or remove the image and ask again.</source>
        <translation>Wählen Sie über dem Chat ein anderes Modell, oder entfernen Sie das Bild und fragen Sie noch einmal.</translation>
    </message>
    <message>
        <source>Choose another model.</source>
        <translation>Wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>Choose another name.</source>
        <translation>Wählen Sie einen anderen Namen.</translation>
    </message>
    <message>
        <source>Choose another name; nothing was written.</source>
        <translation>Wählen Sie einen anderen Namen; nichts wurde geschrieben.</translation>
    </message>
    <message>
        <source>Choose another port, or end that program.</source>
        <translation>Wählen Sie einen anderen Port, oder beenden Sie jenes Programm.</translation>
    </message>
    <message>
        <source>Choose another topic.</source>
        <translation>Wählen Sie ein anderes Thema.</translation>
    </message>
    <message>
        <source>Choose its program file.</source>
        <translation>Wählen Sie die Programmdatei.</translation>
    </message>
    <message>
        <source>Choose one in Settings, or with: desktop-rag model use NAME</source>
        <translation>Wählen Sie eines in den Einstellungen oder mit: desktop-rag model use NAME</translation>
    </message>
    <message>
        <source>Choose one of {choices}.</source>
        <translation>Wählen Sie eines von {choices}.</translation>
    </message>
    <message>
        <source>Choose others for the assistant, or ask without it.</source>
        <translation>Wählen Sie für den Assistenten andere, oder fragen Sie ohne ihn.</translation>
    </message>
    <message>
        <source>Choose who may reach it again.</source>
        <translation>Wählen Sie neu, wer ihn erreichen darf.</translation>
    </message>
    <message>
        <source>Chunks and embedding can be compared over folders, not over links.</source>
        <translation>Textstellen und Einbettung lassen sich nur an Ordnern vergleichen, nicht an Links.</translation>
    </message>
    <message>
        <source>Close it to others: chmod -R go= {root}</source>
        <translation>Schließen Sie ihn für andere: chmod -R go= {root}</translation>
    </message>
    <message>
        <source>Close its window and try again.</source>
        <translation>Schließen Sie ihr Fenster, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Close other programs and ask again, or choose a smaller model.</source>
        <translation>Schließen Sie andere Programme und fragen Sie noch einmal, oder wählen Sie ein kleineres Modell.</translation>
    </message>
    <message>
        <source>Close other programs and try again.</source>
        <translation>Schließen Sie andere Programme, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Close other programs if the memory is short, or install the app again.</source>
        <translation>Schließen Sie andere Programme, wenn der Arbeitsspeicher knapp ist, oder installieren Sie die App noch einmal.</translation>
    </message>
    <message>
        <source>Close other programs, or choose a smaller model.</source>
        <translation>Schließen Sie andere Programme, oder wählen Sie ein kleineres Modell.</translation>
    </message>
    <message>
        <source>Collections: {names}.</source>
        <translation>Sammlungen: {names}.</translation>
    </message>
    <message>
        <source>Computed from figures of the source.</source>
        <translation>Aus Zahlen der Quelle berechnet.</translation>
    </message>
    <message>
        <source>Connection refused</source>
        <translation>Verbindung abgelehnt</translation>
    </message>
    <message>
        <source>Connection reset by peer</source>
        <translation>Verbindung von der Gegenseite abgebrochen</translation>
    </message>
    <message>
        <source>Copy it again from where you got it, and enter it in Settings.</source>
        <translation>Kopieren Sie ihn noch einmal von dort, wo Sie ihn bekommen haben, und geben Sie ihn in den Einstellungen ein.</translation>
    </message>
    <message>
        <source>Damaged files were set aside.</source>
        <translation>Beschädigte Dateien wurden beiseitegelegt.</translation>
    </message>
    <message>
        <source>Default settings are used.</source>
        <translation>Es gelten die Standardeinstellungen.</translation>
    </message>
    <message>
        <source>Delete files that you do not need.</source>
        <translation>Löschen Sie Dateien, die Sie nicht brauchen.</translation>
    </message>
    <message>
        <source>Device or resource busy</source>
        <translation>Gerät oder Ressource belegt</translation>
    </message>
    <message>
        <source>Disk quota exceeded</source>
        <translation>Speicherkontingent überschritten</translation>
    </message>
    <message>
        <source>Documents to be read again when the app runs: {read_again:,}.</source>
        <translation>Dokumente, die neu gelesen werden, wenn die App läuft: {read_again:,}.</translation>
    </message>
    <message>
        <source>Documents, passages, words and vectors agree.</source>
        <translation>Dokumente, Textstellen, Wörter und Vektoren stimmen überein.</translation>
    </message>
    <message>
        <source>Does not count tokens: they are estimated.</source>
        <translation>Zählt keine Token: Sie werden geschätzt.</translation>
    </message>
    <message>
        <source>EPUB</source>
        <translation>EPUB</translation>
    </message>
    <message>
        <source>Embedding: {title}</source>
        <translation>Einbettung: {title}</translation>
    </message>
    <message>
        <source>Empty file</source>
        <translation>Leere Datei</translation>
    </message>
    <message>
        <source>Encrypted in a way that cannot be opened here</source>
        <translation>Auf eine Weise verschlüsselt, die hier nicht geöffnet werden kann</translation>
    </message>
    <message>
        <source>Encrypted: a password is needed</source>
        <translation>Verschlüsselt: Ein Passwort wird gebraucht</translation>
    </message>
    <message>
        <source>Encrypted: the book is copy-protected</source>
        <translation>Verschlüsselt: Das Buch ist kopiergeschützt</translation>
    </message>
    <message>
        <source>Encrypted: the password does not open it</source>
        <translation>Verschlüsselt: Das Passwort öffnet sie nicht</translation>
    </message>
    <message>
        <source>Enter it in Settings, for example http://localhost:11434/v1.</source>
        <translation>Geben Sie sie in den Einstellungen ein, zum Beispiel http://localhost:11434/v1.</translation>
    </message>
    <message>
        <source>Enter the client secret again in the options of the source, which opens Google&apos;s page.</source>
        <translation>Geben Sie den Client-Schlüssel in den Optionen der Quelle erneut ein; das öffnet die Seite von Google.</translation>
    </message>
    <message>
        <source>Enter the key for {host} again in Settings.</source>
        <translation>Geben Sie den Schlüssel für {host} in den Einstellungen noch einmal ein.</translation>
    </message>
    <message>
        <source>Enter the one that speaks OpenAI&apos;s: https://generativelanguage.googleapis.com/v1beta/openai</source>
        <translation>Geben Sie die ein, die jene von OpenAI spricht: https://generativelanguage.googleapis.com/v1beta/openai</translation>
    </message>
    <message>
        <source>Enter the user name of the mailbox.</source>
        <translation>Geben Sie den Benutzernamen des Postfachs ein.</translation>
    </message>
    <message>
        <source>Enter user and password again in the options of the source. Most providers want an app password, which their page makes in the settings for security.</source>
        <translation>Geben Sie Benutzer und Passwort in den Optionen der Quelle noch einmal ein. Die meisten Anbieter verlangen ein App-Passwort, das ihre Seite in den Einstellungen zur Sicherheit macht.</translation>
    </message>
    <message>
        <source>Enter your key for {host} in Settings.</source>
        <translation>Geben Sie in den Einstellungen Ihren Schlüssel für {host} ein.</translation>
    </message>
    <message>
        <source>Entries restored from the journal: {restored:,}.</source>
        <translation>Aus dem Journal wiederhergestellte Einträge: {restored:,}.</translation>
    </message>
    <message>
        <source>Entries restored: {restored:,}.</source>
        <translation>Wiederhergestellte Einträge: {restored:,}.</translation>
    </message>
    <message>
        <source>Everything that is stored can be read.</source>
        <translation>Alles Gespeicherte kann gelesen werden.</translation>
    </message>
    <message>
        <source>Exclude more than {most_files:,} by a pattern: see the options of the folder.</source>
        <translation>Mehr als {most_files:,} schließen Sie mit einem Muster aus: siehe Optionen des Ordners.</translation>
    </message>
    <message>
        <source>Excluded by you</source>
        <translation>Von Ihnen ausgeschlossen</translation>
    </message>
    <message>
        <source>File exists</source>
        <translation>Datei existiert bereits</translation>
    </message>
    <message>
        <source>File name too long</source>
        <translation>Dateiname zu lang</translation>
    </message>
    <message>
        <source>Files above {max_bytes} MB are not read.</source>
        <translation>Dateien über {max_bytes} MB werden nicht gelesen.</translation>
    </message>
    <message>
        <source>Files in {root} would be open to others without their folder: {shared}.</source>
        <translation>Dateien in {root} stünden anderen offen, wenn der Ordner sie nicht schützte: {shared}.</translation>
    </message>
    <message>
        <source>Files of the app in {root} belong to another user: {named}.</source>
        <translation>Dateien der App in {root} gehören einem anderen Benutzer: {named}.</translation>
    </message>
    <message>
        <source>Files of the bundled model are wrong: {wrong}.</source>
        <translation>Dateien des mitgelieferten Modells stimmen nicht: {wrong}.</translation>
    </message>
    <message>
        <source>Folders beyond the limit are compared with the disk at intervals instead.</source>
        <translation>Ordner über der Grenze werden stattdessen in Abständen mit dem Datenträger verglichen.</translation>
    </message>
    <message>
        <source>For example http://localhost:11434/v1#nomic-embed-text</source>
        <translation>Zum Beispiel http://localhost:11434/v1#nomic-embed-text</translation>
    </message>
    <message>
        <source>Formulas of the sheet {name} have no stored values: {unstored}.</source>
        <translation>Formeln des Blatts {name} haben keine gespeicherten Werte: {unstored}.</translation>
    </message>
    <message>
        <source>Free some space on its disk; {enough_bytes} are enough.</source>
        <translation>Schaffen Sie Platz auf dem Datenträger; {enough_bytes} genügen.</translation>
    </message>
    <message>
        <source>Free some space.</source>
        <translation>Schaffen Sie etwas Platz.</translation>
    </message>
    <message>
        <source>Give a day, and a time such as 08:30.</source>
        <translation>Geben Sie einen Tag und eine Uhrzeit wie 08:30 an.</translation>
    </message>
    <message>
        <source>Give it one of 1 to {longest_program} characters.</source>
        <translation>Geben Sie ihm einen aus 1 bis {longest_program} Zeichen.</translation>
    </message>
    <message>
        <source>Give it one to choose it by.</source>
        <translation>Geben Sie ihm einen, damit Sie ihn auswählen können.</translation>
    </message>
    <message>
        <source>Give them back with chown.</source>
        <translation>Geben Sie sie mit chown zurück.</translation>
    </message>
    <message>
        <source>Give this one another name.</source>
        <translation>Geben Sie dieser einen anderen Namen.</translation>
    </message>
    <message>
        <source>Google did not let the app read the Drive.</source>
        <translation>Google hat der App das Lesen des Drive nicht erlaubt.</translation>
    </message>
    <message>
        <source>Google no longer accepts the login.</source>
        <translation>Google nimmt die Anmeldung nicht mehr an.</translation>
    </message>
    <message>
        <source>Hidden columns of the sheet {name} are not read: {count}.</source>
        <translation>Ausgeblendete Spalten des Blatts {name} werden nicht gelesen: {count}.</translation>
    </message>
    <message>
        <source>Hidden rows of the sheet {name} are not read: {hidden}.</source>
        <translation>Ausgeblendete Zeilen des Blatts {name} werden nicht gelesen: {hidden}.</translation>
    </message>
    <message>
        <source>If this is whisper.cpp&apos;s server, choose that kind of server.</source>
        <translation>Falls das der Server von whisper.cpp ist, wählen Sie diese Art von Server.</translation>
    </message>
    <message>
        <source>If {said} is right, enter it in Settings. Nothing was sent there.</source>
        <translation>Wenn {said} richtig ist, geben Sie es in den Einstellungen ein. Dorthin wurde nichts gesendet.</translation>
    </message>
    <message>
        <source>Import the backup again to complete it.</source>
        <translation>Importieren Sie die Sicherung noch einmal, um es zu vervollständigen.</translation>
    </message>
    <message>
        <source>In a terminal: {installer} {quote}</source>
        <translation>In einem Terminal: {installer} {quote}</translation>
    </message>
    <message>
        <source>Indexing is paused until you resume it.</source>
        <translation>Das Indizieren ruht, bis Sie es fortsetzen.</translation>
    </message>
    <message>
        <source>Indexing is paused.</source>
        <translation>Die Indexierung ist angehalten.</translation>
    </message>
    <message>
        <source>Indexing is tried again by itself.</source>
        <translation>Das Indizieren wird von selbst noch einmal versucht.</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>Ein-/Ausgabefehler</translation>
    </message>
    <message>
        <source>Install pgvector 0.8 or newer on the server, as Debian&apos;s package postgresql-18-pgvector does.</source>
        <translation>Installieren Sie auf dem Server pgvector 0.8 oder neuer, in Debian mit dem Paket postgresql-18-pgvector.</translation>
    </message>
    <message>
        <source>Install the app again.</source>
        <translation>Installieren Sie die App noch einmal.</translation>
    </message>
    <message>
        <source>Install {needed} (as Debian and Ubuntu call it), then start again.</source>
        <translation>Installieren Sie {needed} (so heißt es bei Debian und Ubuntu) und starten Sie dann neu.</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>Ist ein Ordner</translation>
    </message>
    <message>
        <source>Is not asked to check answers: {share}.</source>
        <translation>Wird nicht zum Prüfen von Antworten gefragt: {share}.</translation>
    </message>
    <message>
        <source>Is the server at {host} running? Check the address in Settings, and the network.</source>
        <translation>Läuft der Server auf {host}? Prüfen Sie die Adresse in den Einstellungen und das Netzwerk.</translation>
    </message>
    <message>
        <source>Is the server at {host} running? Start it, or check the address in Settings.</source>
        <translation>Läuft der Server auf {host}? Starten Sie ihn, oder prüfen Sie die Adresse in den Einstellungen.</translation>
    </message>
    <message>
        <source>It answers although its list does not name it.</source>
        <translation>Es antwortet, obwohl es in der Liste des Endpunkts fehlt.</translation>
    </message>
    <message>
        <source>It begins with “{text}”, and may have {longest_question:,}.</source>
        <translation>Sie beginnt mit „{text}“ und darf {longest_question:,} haben.</translation>
    </message>
    <message>
        <source>It came as {said}, although it was asked for plain. Turn that off at {host} or its proxy.</source>
        <translation>Sie kam als {said}, obwohl sie unkomprimiert verlangt war. Schalten Sie das auf {host} oder dessen Proxy ab.</translation>
    </message>
    <message>
        <source>It can&apos;t be loaded: choose another file, or fetch it again.</source>
        <translation>Sie kann nicht geladen werden: Wählen Sie eine andere Datei, oder laden Sie sie neu herunter.</translation>
    </message>
    <message>
        <source>It can&apos;t be shown.</source>
        <translation>Sie kann nicht angezeigt werden.</translation>
    </message>
    <message>
        <source>It contains no ONNX weights, such as onnx/model.onnx</source>
        <translation>Er enthält keine ONNX-Gewichte, etwa onnx/model.onnx</translation>
    </message>
    <message>
        <source>It contains only zeros, or no numbers. Check the server&apos;s log, or choose another model for meaning.</source>
        <translation>Er enthält nur Nullen oder keine Zahlen. Sehen Sie ins Protokoll des Servers, oder wählen Sie ein anderes Modell für die Bedeutung.</translation>
    </message>
    <message>
        <source>It could read other files of yours.</source>
        <translation>Er könnte andere Ihrer Dateien lesen.</translation>
    </message>
    <message>
        <source>It could read other files of yours: for that, Linux 5.13 or newer with Landlock is needed, and libraries that are files and not links.</source>
        <translation>Er könnte andere Ihrer Dateien lesen: Um das zu verhindern, braucht es Linux 5.13 oder neuer mit Landlock sowie Bibliotheken, die Dateien und keine Verknüpfungen sind.</translation>
    </message>
    <message>
        <source>It declares XML entities.</source>
        <translation>Sie vereinbart XML-Entitäten.</translation>
    </message>
    <message>
        <source>It declares entities made of entities.</source>
        <translation>Sie vereinbart Entitäten aus Entitäten.</translation>
    </message>
    <message>
        <source>It does not name its encoding, and was read as</source>
        <translation>Sie nennt ihre Kodierung nicht und wurde gelesen als</translation>
    </message>
    <message>
        <source>It does not name its encoding, and was read as {encoding}; some letters may be wrong.</source>
        <translation>Die Datei nennt ihre Kodierung nicht und wurde als {encoding} gelesen; manche Buchstaben können falsch sein.</translation>
    </message>
    <message>
        <source>It excludes the prompt from pooling, which is not supported</source>
        <translation>Es nimmt die Anweisung vom Pooling aus, was nicht unterstützt wird</translation>
    </message>
    <message>
        <source>It fits the {memory} of memory, and larger models are slow on this computer.</source>
        <translation>Es passt in die {memory} Arbeitsspeicher, und größere Modelle sind auf diesem Computer langsam.</translation>
    </message>
    <message>
        <source>It has hardly any lines, so it is shown and counted broken into some.</source>
        <translation>Sie hat kaum Zeilenumbrüche, deshalb wird sie umbrochen angezeigt und gezählt.</translation>
    </message>
    <message>
        <source>It has no document inside.</source>
        <translation>Sie enthält kein Dokument.</translation>
    </message>
    <message>
        <source>It has no folder documents.</source>
        <translation>Ihm fehlt der Ordner documents.</translation>
    </message>
    <message>
        <source>It has no list of chapters.</source>
        <translation>Es hat kein Verzeichnis der Kapitel.</translation>
    </message>
    <message>
        <source>It has too many pixels.</source>
        <translation>Es hat zu viele Bildpunkte.</translation>
    </message>
    <message>
        <source>It has version {found}, this app knows {latest}. Update the app.</source>
        <translation>Sie hat Version {found}, diese App kennt {latest}. Aktualisieren Sie die App.</translation>
    </message>
    <message>
        <source>It has {fault}.</source>
        <translation>Er hat {fault}.</translation>
    </message>
    <message>
        <source>It holds more attachments than are read.</source>
        <translation>Sie enthält mehr Anhänge, als gelesen werden.</translation>
    </message>
    <message>
        <source>It holds no notes.</source>
        <translation>Die Datei enthält keine Notizen.</translation>
    </message>
    <message>
        <source>It holds {count:,} parts.</source>
        <translation>Sie enthält {count:,} Teile.</translation>
    </message>
    <message>
        <source>It is XML or JSON, or packed.</source>
        <translation>Sie ist XML oder JSON, oder gepackt.</translation>
    </message>
    <message>
        <source>It is a number from {least:,} to {most:,}.</source>
        <translation>Es ist eine Zahl von {least:,} bis {most:,}.</translation>
    </message>
    <message>
        <source>It is a picture.</source>
        <translation>Sie ist ein Bild.</translation>
    </message>
    <message>
        <source>It is cut short or altered.</source>
        <translation>Sie ist abgeschnitten oder verändert.</translation>
    </message>
    <message>
        <source>It is far too large.</source>
        <translation>Sie ist viel zu groß.</translation>
    </message>
    <message>
        <source>It is like 2024-05-31.</source>
        <translation>Er sieht aus wie 2024-05-31.</translation>
    </message>
    <message>
        <source>It is like https://cloud.example.org/remote.php/dav/files/ann/Documents/.</source>
        <translation>Sie sieht aus wie https://cloud.example.org/remote.php/dav/files/ann/Dokumente/.</translation>
    </message>
    <message>
        <source>It is like imaps://imap.example.org, or imaps://imap.example.org/INBOX,Sent.</source>
        <translation>Sie ist wie imaps://imap.example.org oder imaps://imap.example.org/INBOX,Sent.</translation>
    </message>
    <message>
        <source>It is like {example}.</source>
        <translation>Sie sieht aus wie {example}.</translation>
    </message>
    <message>
        <source>It is no JSON.</source>
        <translation>Sie ist kein JSON.</translation>
    </message>
    <message>
        <source>It is no JSON: {exc}.</source>
        <translation>Sie ist kein JSON: {exc}.</translation>
    </message>
    <message>
        <source>It is no file.</source>
        <translation>Das ist keine Datei.</translation>
    </message>
    <message>
        <source>It is no library.</source>
        <translation>Das ist keine Bibliothek.</translation>
    </message>
    <message>
        <source>It is no object.</source>
        <translation>Sie ist kein Objekt.</translation>
    </message>
    <message>
        <source>It is no valid PDF.</source>
        <translation>Das ist kein gültiges PDF.</translation>
    </message>
    <message>
        <source>It is no valid message.</source>
        <translation>Das ist keine gültige Nachricht.</translation>
    </message>
    <message>
        <source>It is no valid notebook.</source>
        <translation>Das ist kein gültiges Notebook.</translation>
    </message>
    <message>
        <source>It is no valid picture.</source>
        <translation>Das ist kein gültiges Bild.</translation>
    </message>
    <message>
        <source>It is no whole ZIP file.</source>
        <translation>Sie ist keine vollständige ZIP-Datei.</translation>
    </message>
    <message>
        <source>It is not on the server (404).</source>
        <translation>Es ist nicht auf dem Server (404).</translation>
    </message>
    <message>
        <source>It is not on the server ({status}).</source>
        <translation>Sie ist nicht auf dem Server ({status}).</translation>
    </message>
    <message>
        <source>It is not on the server.</source>
        <translation>Auf dem Server ist sie nicht.</translation>
    </message>
    <message>
        <source>It is on or off.</source>
        <translation>Es ist „on“ oder „off“.</translation>
    </message>
    <message>
        <source>It is part of {path}.</source>
        <translation>Er gehört zu {path}.</translation>
    </message>
    <message>
        <source>It is the largest that fits the {memory} of memory.</source>
        <translation>Es ist das größte, das in die {memory} Arbeitsspeicher passt.</translation>
    </message>
    <message>
        <source>It is the smallest that can be recommended; {memory} are little.</source>
        <translation>Es ist das kleinste, das empfohlen werden kann; {memory} sind wenig.</translation>
    </message>
    <message>
        <source>It is tried again by itself.</source>
        <translation>Es wird von selbst noch einmal versucht.</translation>
    </message>
    <message>
        <source>It is very large.</source>
        <translation>Sie ist sehr groß.</translation>
    </message>
    <message>
        <source>It is {media_type}.</source>
        <translation>Sie ist {media_type}.</translation>
    </message>
    <message>
        <source>It makes no statement that can be checked.</source>
        <translation>Er sagt nichts aus, was sich prüfen ließe.</translation>
    </message>
    <message>
        <source>It may be damaged. Open it in its own program and save it again.</source>
        <translation>Sie ist vielleicht beschädigt. Öffnen Sie sie in ihrem eigenen Programm, und speichern Sie sie noch einmal.</translation>
    </message>
    <message>
        <source>It may end in {forms}; the window also makes a PDF.</source>
        <translation>Er kann auf {forms} enden; das Fenster erzeugt auch ein PDF.</translation>
    </message>
    <message>
        <source>It may have been moved or deleted just now.</source>
        <translation>Vielleicht wurde sie gerade verschoben oder gelöscht.</translation>
    </message>
    <message>
        <source>It may have up to {longest_value} characters, on one line.</source>
        <translation>Er darf bis zu {longest_value} Zeichen haben, auf einer Zeile.</translation>
    </message>
    <message>
        <source>It may have {longest_name} letters.</source>
        <translation>Er darf {longest_name} Zeichen haben.</translation>
    </message>
    <message>
        <source>It may have {longest_question:,} characters.</source>
        <translation>Sie darf {longest_question:,} Zeichen haben.</translation>
    </message>
    <message>
        <source>It may have {most_questions:,} questions.</source>
        <translation>Sie darf {most_questions:,} Fragen haben.</translation>
    </message>
    <message>
        <source>It may not be an OpenAI-compatible address: check {url} in Settings.</source>
        <translation>Vielleicht ist es keine OpenAI-kompatible Adresse: Prüfen Sie {url} in den Einstellungen.</translation>
    </message>
    <message>
        <source>It mixes encodings; some characters may be wrong.</source>
        <translation>Sie mischt Kodierungen; einige Zeichen können falsch sein.</translation>
    </message>
    <message>
        <source>It names none</source>
        <translation>Er nennt keinen</translation>
    </message>
    <message>
        <source>It names {address}</source>
        <translation>Er nennt {address}</translation>
    </message>
    <message>
        <source>It needs a column or key “question”; “expected”, “wrong” and “tags” may follow.</source>
        <translation>Nötig ist eine Spalte oder ein Schlüssel „question“; „expected“, „wrong“ und „tags“ können folgen.</translation>
    </message>
    <message>
        <source>It needs a list of {{name, model, …}}.</source>
        <translation>Nötig ist eine Liste aus {{name, model, …}}.</translation>
    </message>
    <message>
        <source>It needs {unknown} as input, which is not supported</source>
        <translation>Es braucht {unknown} als Eingabe, was nicht unterstützt wird</translation>
    </message>
    <message>
        <source>It offers {listed}.</source>
        <translation>Zur Auswahl stehen {listed}.</translation>
    </message>
    <message>
        <source>It only kept the connection open. Press Retry, or check the server&apos;s log.</source>
        <translation>Er hielt nur die Verbindung offen. Drücken Sie „Erneut versuchen“, oder sehen Sie ins Protokoll des Servers.</translation>
    </message>
    <message>
        <source>It said nothing for {limit_s} seconds.</source>
        <translation>{limit_s} Sekunden lang kam nichts.</translation>
    </message>
    <message>
        <source>It says nothing of a chat.</source>
        <translation>Von einem Chat steht darin nichts.</translation>
    </message>
    <message>
        <source>It says something else than expected.</source>
        <translation>Er sagt etwas anderes als erwartet.</translation>
    </message>
    <message>
        <source>It says: “</source>
        <translation>Die Meldung lautet: „</translation>
    </message>
    <message>
        <source>It says: “{said}”</source>
        <translation>Die Meldung lautet: „{said}“</translation>
    </message>
    <message>
        <source>It stores its work. Try again in a minute.</source>
        <translation>Sie speichert gerade. Versuchen Sie es in einer Minute noch einmal.</translation>
    </message>
    <message>
        <source>It takes only so many in a time. Wait {wait}, then press Retry.</source>
        <translation>Er nimmt nur eine bestimmte Zahl in einer bestimmten Zeit an. Warten Sie {wait}, und drücken Sie dann „Erneut versuchen“.</translation>
    </message>
    <message>
        <source>It understands desktop-rag://ask?q=QUESTION and desktop-rag://open?document=ID.</source>
        <translation>Verstanden werden desktop-rag://ask?q=FRAGE und desktop-rag://open?document=ID.</translation>
    </message>
    <message>
        <source>It wants to know who asks, which this app doesn&apos;t tell. Choose another model.</source>
        <translation>Er will wissen, wer fragt, und das verrät diese App nicht. Wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>It was given {limit_s} seconds. It is tried again.</source>
        <translation>Er hatte {limit_s} Sekunden. Es wird wieder versucht.</translation>
    </message>
    <message>
        <source>It was left as it is.</source>
        <translation>Sie blieb, wie sie ist.</translation>
    </message>
    <message>
        <source>It was not fetched or copied to its end. Fetch it again, or choose another file.</source>
        <translation>Sie wurde nicht bis zum Ende heruntergeladen oder kopiert. Laden Sie sie neu herunter, oder wählen Sie eine andere Datei.</translation>
    </message>
    <message>
        <source>It was refused in the desktop&apos;s question.</source>
        <translation>In der Rückfrage des Desktops wurde abgelehnt.</translation>
    </message>
    <message>
        <source>It was removed in the meantime.</source>
        <translation>Sie wurde inzwischen entfernt.</translation>
    </message>
    <message>
        <source>It was stopped for its length. Press Retry, or pick another model in Settings.</source>
        <translation>Sie wurde wegen ihrer Länge abgebrochen. Drücken Sie „Erneut versuchen“, oder wählen Sie in den Einstellungen ein anderes Modell.</translation>
    </message>
    <message>
        <source>It was {base_url}. Choose another model for the assistant, or ask without it.</source>
        <translation>Es war {base_url}. Wählen Sie für den Assistenten ein anderes Modell, oder fragen Sie ohne ihn.</translation>
    </message>
    <message>
        <source>It wrote the same again and again, so it was stopped. Press Retry, or pick another model.</source>
        <translation>Es schrieb immer wieder dasselbe und wurde angehalten. Drücken Sie „Erneut versuchen“, oder wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>Its address is http://localhost:23119/.</source>
        <translation>Die Adresse ist http://localhost:23119/.</translation>
    </message>
    <message>
        <source>Its building was cut off, so searches compare all vectors. It is built anew when nothing else is to be done.</source>
        <translation>Sein Aufbau wurde abgebrochen, deshalb vergleichen Suchen alle Vektoren. Er wird neu aufgebaut, wenn sonst nichts zu tun ist.</translation>
    </message>
    <message>
        <source>Its cells can&apos;t be read.</source>
        <translation>Ihre Zellen können nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Its content can&apos;t be read.</source>
        <translation>Ihr Inhalt kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Its content filter stopped it. Rephrase the question, or choose another endpoint.</source>
        <translation>Sein Inhaltsfilter hat sie angehalten. Formulieren Sie die Frage anders, oder wählen Sie einen anderen Endpunkt.</translation>
    </message>
    <message>
        <source>Its content is no {named} file.</source>
        <translation>Ihr Inhalt ist keine Datei der Art {named}.</translation>
    </message>
    <message>
        <source>Its content is not what the host states, so it was deleted. Fetch it again.</source>
        <translation>Ihr Inhalt ist nicht der, den der Host angibt; sie wurde gelöscht. Laden Sie sie neu herunter.</translation>
    </message>
    <message>
        <source>Its disk is read-only, or you may not write there. The library can only be read.</source>
        <translation>Ihr Datenträger ist schreibgeschützt, oder Sie dürfen dort nicht schreiben. Die Bibliothek kann nur gelesen werden.</translation>
    </message>
    <message>
        <source>Its document can&apos;t be read.</source>
        <translation>Ihr Dokument kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Its documents stay searchable;</source>
        <translation>Seine Dokumente bleiben durchsuchbar;</translation>
    </message>
    <message>
        <source>Its file is damaged, or of a kind that this version can&apos;t run: choose another.</source>
        <translation>Seine Datei ist beschädigt oder von einer Art, die diese Version nicht ausführen kann: Wählen Sie eine andere.</translation>
    </message>
    <message>
        <source>Its file may be damaged: choose another model, or fetch it again.</source>
        <translation>Seine Datei ist vielleicht beschädigt: Wählen Sie ein anderes Modell, oder laden Sie es neu herunter.</translation>
    </message>
    <message>
        <source>Its files cannot be read ({strerror})</source>
        <translation>Seine Dateien können nicht gelesen werden ({strerror})</translation>
    </message>
    <message>
        <source>Its folders are {there}.</source>
        <translation>Seine Ordner sind {there}.</translation>
    </message>
    <message>
        <source>Its format is version {version}, this app reads {version2}. Update the app.</source>
        <translation>Ihr Format hat Version {version}, diese App liest {version2}. Aktualisieren Sie die App.</translation>
    </message>
    <message>
        <source>Its model.toml is missing or incomplete ({exc})</source>
        <translation>Seine model.toml fehlt oder ist unvollständig ({exc})</translation>
    </message>
    <message>
        <source>Its module {further} is not in the ONNX file: export it whole</source>
        <translation>Sein Modul {further} fehlt in der ONNX-Datei: Exportieren Sie es vollständig</translation>
    </message>
    <message>
        <source>Its output is not a vector</source>
        <translation>Seine Ausgabe ist kein Vektor</translation>
    </message>
    <message>
        <source>Its pages are blank.</source>
        <translation>Ihre Seiten sind leer.</translation>
    </message>
    <message>
        <source>Its pages are left alone until it does.</source>
        <translation>Ihre Seiten werden in Ruhe gelassen, bis sie es tut.</translation>
    </message>
    <message>
        <source>Its pages may be scanned pictures.</source>
        <translation>Ihre Seiten sind vielleicht gescannte Bilder.</translation>
    </message>
    <message>
        <source>Its pictures could not be read.</source>
        <translation>Die Bilder darin konnten nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Its pooling “{pooling}” is not supported, only one of {known}</source>
        <translation>Sein Pooling „{pooling}“ wird nicht unterstützt, nur eines von {known}</translation>
    </message>
    <message>
        <source>Its slides can&apos;t be found.</source>
        <translation>Ihre Folien sind nicht zu finden.</translation>
    </message>
    <message>
        <source>Its slides can&apos;t be read.</source>
        <translation>Ihre Folien können nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Its sources are in another language.</source>
        <translation>Seine Quellen sind in einer anderen Sprache.</translation>
    </message>
    <message>
        <source>Its table {table} has other columns.</source>
        <translation>Seine Tabelle {table} hat andere Spalten.</translation>
    </message>
    <message>
        <source>Its text can&apos;t be found.</source>
        <translation>Ihr Text ist nicht zu finden.</translation>
    </message>
    <message>
        <source>Its vectors have more dimensions than pgvector indexes, so searches compare all of them.</source>
        <translation>Seine Vektoren haben mehr Dimensionen, als pgvector indiziert, deshalb vergleichen Suchen alle.</translation>
    </message>
    <message>
        <source>Its words alone don&apos;t tell, and in this language no more is checked.</source>
        <translation>Die Wörter allein sagen es nicht, und mehr wird in dieser Sprache nicht geprüft.</translation>
    </message>
    <message>
        <source>Its words alone don&apos;t tell, and its source has no sentences to read.</source>
        <translation>Seine Wörter allein sagen es nicht, und in seiner Quelle stehen keine Sätze, die sich lesen lassen.</translation>
    </message>
    <message>
        <source>Keys are kept in: {name}.</source>
        <translation>Schlüssel liegen in: {name}.</translation>
    </message>
    <message>
        <source>Known are {near}.</source>
        <translation>Bekannt sind {near}.</translation>
    </message>
    <message>
        <source>Leave one in it, or none: the key has its own field in Settings.</source>
        <translation>Lassen Sie einen darin oder keinen: Der Schlüssel hat in den Einstellungen ein eigenes Feld.</translation>
    </message>
    <message>
        <source>Leave out {too_many:,} characters: every question would carry them.</source>
        <translation>Lassen Sie {too_many:,} Zeichen weg: Jede Frage würde sie mittragen.</translation>
    </message>
    <message>
        <source>Letters, digits, - and _ make a name.</source>
        <translation>Ein Name besteht aus Buchstaben, Ziffern, - und _.</translation>
    </message>
    <message>
        <source>Line {line} is not valid JSON. It was left as it is; correct it first.</source>
        <translation>Zeile {line} ist kein gültiges JSON. Die Datei blieb, wie sie ist; berichtigen Sie sie zuerst.</translation>
    </message>
    <message>
        <source>Lines of the journal that cannot be read: {unreadable:,}.</source>
        <translation>Zeilen des Journals, die nicht gelesen werden können: {unreadable:,}.</translation>
    </message>
    <message>
        <source>Load one in the program at {host}, then press Retry.</source>
        <translation>Laden Sie eines im Programm unter {host} und drücken Sie dann auf „Wiederholen“.</translation>
    </message>
    <message>
        <source>Loading “{model}”: {waited_s} s.</source>
        <translation>„{model}“ wird geladen: {waited_s} s.</translation>
    </message>
    <message>
        <source>Log in on a computer that has one.</source>
        <translation>Melden Sie sich auf einem Computer an, der einen hat.</translation>
    </message>
    <message>
        <source>Look for its new version.</source>
        <translation>Suchen Sie seine neue Fassung.</translation>
    </message>
    <message>
        <source>Make a new one first, or remove the folder.</source>
        <translation>Legen Sie zuerst eine neue an, oder entfernen Sie den Ordner.</translation>
    </message>
    <message>
        <source>Makes things up: answered {share} right. It adds to excerpts what they back.</source>
        <translation>Erfindet Dinge: beantwortete {share} richtig. Es ergänzt Auszüge um das, was sie belegen.</translation>
    </message>
    <message>
        <source>Makes vectors too.</source>
        <translation>Erzeugt auch Vektoren.</translation>
    </message>
    <message>
        <source>Merging…</source>
        <translation>Wird zusammengeführt…</translation>
    </message>
    <message>
        <source>Message {number} was left out: {title}.</source>
        <translation>Nachricht {number} wurde ausgelassen: {title}.</translation>
    </message>
    <message>
        <source>Model {number} has {dimensions} dimensions.</source>
        <translation>Modell {number} hat {dimensions} Dimensionen.</translation>
    </message>
    <message>
        <source>Most end in /v1: try {version}.</source>
        <translation>Die meisten enden auf /v1: Versuchen Sie {version}.</translation>
    </message>
    <message>
        <source>Mostly it is the address of mail.</source>
        <translation>Meist ist es die E-Mail-Adresse.</translation>
    </message>
    <message>
        <source>Name the program that will use it.</source>
        <translation>Nennen Sie das Programm, das es benutzen wird.</translation>
    </message>
    <message>
        <source>Network folders do not tell when something changes.</source>
        <translation>Netzwerkordner melden nicht, wenn sich etwas ändert.</translation>
    </message>
    <message>
        <source>Network is unreachable</source>
        <translation>Netzwerk nicht erreichbar</translation>
    </message>
    <message>
        <source>Nextcloud shows the address in its files, under Settings: it ends in /remote.php/dav/files/ and the user.</source>
        <translation>Nextcloud zeigt die Adresse bei den Dateien unter Einstellungen: Sie endet mit /remote.php/dav/files/ und dem Benutzer.</translation>
    </message>
    <message>
        <source>No browser could be opened.</source>
        <translation>Es ließ sich kein Browser öffnen.</translation>
    </message>
    <message>
        <source>No endpoint address is set.</source>
        <translation>Es ist keine Adresse eines Endpunkts eingetragen.</translation>
    </message>
    <message>
        <source>No endpoint is set: answers are excerpts.</source>
        <translation>Es ist kein Endpunkt eingetragen: Antworten sind Auszüge.</translation>
    </message>
    <message>
        <source>No endpoint that is set needs a key.</source>
        <translation>Kein eingetragener Endpunkt braucht einen Schlüssel.</translation>
    </message>
    <message>
        <source>No folders have been added yet.</source>
        <translation>Es wurden noch keine Ordner hinzugefügt.</translation>
    </message>
    <message>
        <source>No message in it can be read.</source>
        <translation>Keine Nachricht darin kann gelesen werden.</translation>
    </message>
    <message>
        <source>No model is chosen.</source>
        <translation>Es ist kein Modell gewählt.</translation>
    </message>
    <message>
        <source>No model is connected. Connect one in the settings, or ask about all documents: then the answer is made of excerpts.</source>
        <translation>Es ist kein Modell verbunden. Verbinden Sie eines in den Einstellungen, oder fragen Sie zu allen Dokumenten: Dann besteht die Antwort aus Auszügen.</translation>
    </message>
    <message>
        <source>No model is set that could judge.</source>
        <translation>Es ist kein Modell eingetragen, das urteilen könnte.</translation>
    </message>
    <message>
        <source>No program may begin to watch folders: all {instances:,} watchers are in use.</source>
        <translation>Kein Programm kann Ordner neu überwachen: Alle {instances:,} Wächter sind belegt.</translation>
    </message>
    <message>
        <source>No route to host</source>
        <translation>Kein Weg zum Zielrechner</translation>
    </message>
    <message>
        <source>No snapshot can be made.</source>
        <translation>Es kann keine Sicherung des Tages angelegt werden.</translation>
    </message>
    <message>
        <source>No space left on device</source>
        <translation>Kein Platz mehr auf dem Datenträger</translation>
    </message>
    <message>
        <source>No speech was found in the recording</source>
        <translation>In der Aufnahme wurde keine Sprache gefunden</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>Datei oder Ordner nicht gefunden</translation>
    </message>
    <message>
        <source>No text found</source>
        <translation>Kein Text gefunden</translation>
    </message>
    <message>
        <source>No token of this server is for your login.</source>
        <translation>Kein Token dieses Servers ist für Ihre Anmeldung.</translation>
    </message>
    <message>
        <source>Nobody can log in here: no provider is set.</source>
        <translation>Hier kann sich niemand anmelden: Es ist kein Anbieter eingestellt.</translation>
    </message>
    <message>
        <source>Nobody logged in within five minutes.</source>
        <translation>Fünf Minuten lang hat sich niemand angemeldet.</translation>
    </message>
    <message>
        <source>None of its pages can be read.</source>
        <translation>Keine ihrer Seiten kann gelesen werden.</translation>
    </message>
    <message>
        <source>None of its sheets can be read.</source>
        <translation>Keines ihrer Blätter kann gelesen werden.</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>Kein Ordner</translation>
    </message>
    <message>
        <source>Not a page that can be read.</source>
        <translation>Keine Seite, die gelesen werden kann.</translation>
    </message>
    <message>
        <source>Not a regular file</source>
        <translation>Keine gewöhnliche Datei</translation>
    </message>
    <message>
        <source>Not a text file</source>
        <translation>Keine Textdatei</translation>
    </message>
    <message>
        <source>Not all can, and nothing twice.</source>
        <translation>Nicht alles lässt sich rückgängig machen, und nichts zweimal.</translation>
    </message>
    <message>
        <source>Not all documents that programs sent could be written.</source>
        <translation>Nicht alle von Programmen gesendeten Dokumente konnten geschrieben werden.</translation>
    </message>
    <message>
        <source>Not all prompts and answers of yours could be written.</source>
        <translation>Nicht alle Ihre Anweisungen und Antworten konnten geschrieben werden.</translation>
    </message>
    <message>
        <source>Not checked, because the library cannot be read.</source>
        <translation>Nicht geprüft, weil die Bibliothek nicht gelesen werden kann.</translation>
    </message>
    <message>
        <source>Not fetched: these links are limited to {limit:,} pages.</source>
        <translation>Nicht abgerufen: Für diese Links gilt eine Grenze von {limit:,} Seiten.</translation>
    </message>
    <message>
        <source>Not known without a desktop session.</source>
        <translation>Ohne Desktop-Sitzung nicht bekannt.</translation>
    </message>
    <message>
        <source>Not supported: audio or video</source>
        <translation>Nicht unterstützt: Ton oder Video</translation>
    </message>
    <message>
        <source>Not supported: private key</source>
        <translation>Nicht unterstützt: privater Schlüssel</translation>
    </message>
    <message>
        <source>Not supported: {kind}</source>
        <translation>Nicht unterstützt: {kind}</translation>
    </message>
    <message>
        <source>Nothing about “{topic}” was found.</source>
        <translation>Zu „{topic}“ wurde nichts gefunden.</translation>
    </message>
    <message>
        <source>Nothing can be written to {folder}.</source>
        <translation>In {folder} kann nichts geschrieben werden.</translation>
    </message>
    <message>
        <source>Nothing can listen on {host}, port {port}.</source>
        <translation>Unter {host}, Port {port}, kann nichts antworten.</translation>
    </message>
    <message>
        <source>Nothing is left to do.</source>
        <translation>Es ist nichts mehr zu tun.</translation>
    </message>
    <message>
        <source>Nothing says how its token vectors are pooled: add model.toml</source>
        <translation>Nirgends steht, wie seine Token-Vektoren zusammengefasst werden: Fügen Sie model.toml hinzu</translation>
    </message>
    <message>
        <source>Nothing there is a page.</source>
        <translation>Nichts davon ist eine Seite.</translation>
    </message>
    <message>
        <source>Nothing was changed.</source>
        <translation>Nichts wurde geändert.</translation>
    </message>
    <message>
        <source>Nothing was found at {path}.</source>
        <translation>Unter {path} wurde nichts gefunden.</translation>
    </message>
    <message>
        <source>Nothing was sent to it. Remove {address} and try again.</source>
        <translation>Es wurde nichts dorthin gesendet. Entfernen Sie {address}, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Of one message only {max_parts:,} parts were read.</source>
        <translation>Von einer Nachricht wurden nur {max_parts:,} Teile gelesen.</translation>
    </message>
    <message>
        <source>Offered are {names}.</source>
        <translation>Angeboten werden {names}.</translation>
    </message>
    <message>
        <source>Office file</source>
        <translation>Office-Datei</translation>
    </message>
    <message>
        <source>On GNOME the extension AppIndicator adds one. The app works without it.</source>
        <translation>In GNOME fügt die Erweiterung AppIndicator einen hinzu. Die App läuft auch ohne.</translation>
    </message>
    <message>
        <source>On macOS the entries belong to the app in the Applications folder.</source>
        <translation>Auf macOS gehören die Einträge zur App im Ordner „Programme“.</translation>
    </message>
    <message>
        <source>One of its description files cannot be read ({exc})</source>
        <translation>Eine der Dateien, die es beschreiben, kann nicht gelesen werden ({exc})</translation>
    </message>
    <message>
        <source>Only PDF files can be shown by the page</source>
        <translation>Nur PDF-Dateien können seitenweise angezeigt werden</translation>
    </message>
    <message>
        <source>Only Python itself keeps it from the network and from other programs; a fault in native code could get past that. Be careful with files from strangers.</source>
        <translation>Nur Python selbst hält ihn vom Netz und von anderen Programmen fern; ein Fehler in nativem Code könnte das umgehen. Seien Sie vorsichtig mit Dateien von Fremden.</translation>
    </message>
    <message>
        <source>Only a few letters came in minutes, so it was stopped. Press Retry, or see its log.</source>
        <translation>In Minuten kamen nur wenige Zeichen, deshalb wurde sie angehalten. Drücken Sie „Erneut versuchen“, oder sehen Sie in sein Protokoll.</translation>
    </message>
    <message>
        <source>Only http and https addresses are fetched.</source>
        <translation>Nur Adressen mit http und https werden abgerufen.</translation>
    </message>
    <message>
        <source>Only http:// proxies are supported. Set one, or add {base_url} to NO_PROXY.</source>
        <translation>Nur Proxys mit http:// werden unterstützt. Stellen Sie einen solchen ein, oder nehmen Sie {base_url} in NO_PROXY auf.</translation>
    </message>
    <message>
        <source>Only the first {max_chars:,} characters were read.</source>
        <translation>Nur die ersten {max_chars:,} Zeichen wurden gelesen.</translation>
    </message>
    <message>
        <source>Only the last one comes back.</source>
        <translation>Nur die letzte lässt sich zurückholen.</translation>
    </message>
    <message>
        <source>Only {files:,} more files fit on the disk with the {what} in {folder}.</source>
        <translation>Auf den Datenträger von {folder} ({what}) passen nur noch {files:,} Dateien.</translation>
    </message>
    <message>
        <source>Only {free} are free for the {what} in {folder}.</source>
        <translation>Nur noch {free} sind in {folder} frei ({what}).</translation>
    </message>
    <message>
        <source>Only {limit} of {name} are read.</source>
        <translation>Von {name} werden nur {limit} gelesen.</translation>
    </message>
    <message>
        <source>Only {max_parts} of the files inside it were read.</source>
        <translation>Nur {max_parts} der Dateien darin wurden gelesen.</translation>
    </message>
    <message>
        <source>Only {number} of its {count} pages were read.</source>
        <translation>Nur {number} ihrer {count} Seiten wurden gelesen.</translation>
    </message>
    <message>
        <source>Only {size:,} of {size2:,} bytes came.</source>
        <translation>Nur {size:,} von {size2:,} Bytes kamen an.</translation>
    </message>
    <message>
        <source>Open it in a newer program, such as LibreOffice, and save it in a format of today.</source>
        <translation>Öffnen Sie sie in einem neueren Programm wie LibreOffice, und speichern Sie sie in einem heutigen Format.</translation>
    </message>
    <message>
        <source>Opened with a password.</source>
        <translation>Mit einem Passwort geöffnet.</translation>
    </message>
    <message>
        <source>Operation not permitted</source>
        <translation>Vorgang nicht erlaubt</translation>
    </message>
    <message>
        <source>Other questions came first.</source>
        <translation>Andere Fragen hatten Vorrang.</translation>
    </message>
    <message>
        <source>Other users of this computer may open {root}.</source>
        <translation>Andere Benutzer dieses Computers können {root} öffnen.</translation>
    </message>
    <message>
        <source>Outlook mailbox</source>
        <translation>Outlook-Postfach</translation>
    </message>
    <message>
        <source>PDF</source>
        <translation>PDF</translation>
    </message>
    <message>
        <source>Page {page} can&apos;t be shown</source>
        <translation>Seite {page} kann nicht angezeigt werden</translation>
    </message>
    <message>
        <source>Pages are fetched from public addresses, and from hosts of the local network that the collection allows.</source>
        <translation>Seiten werden von öffentlichen Adressen abgerufen und von Rechnern des lokalen Netzes, die die Sammlung erlaubt.</translation>
    </message>
    <message>
        <source>Pages behind a login can&apos;t be fetched: save them as files.</source>
        <translation>Seiten hinter einer Anmeldung können nicht abgerufen werden: Speichern Sie sie als Dateien.</translation>
    </message>
    <message>
        <source>Pages that can&apos;t be read: {failed}.</source>
        <translation>Seiten, die nicht gelesen werden können: {failed}.</translation>
    </message>
    <message>
        <source>Pages whose text is unreadable: {garbled}.</source>
        <translation>Seiten, deren Text unleserlich ist: {garbled}.</translation>
    </message>
    <message>
        <source>Pages without text that may be scanned pictures: {pictures}.</source>
        <translation>Seiten ohne Text, vielleicht gescannte Bilder: {pictures}.</translation>
    </message>
    <message>
        <source>Pages: {read_pages}.</source>
        <translation>Seiten: {read_pages}.</translation>
    </message>
    <message>
        <source>Parts of the index without a document, removed: {removed:,}.</source>
        <translation>Entfernte Teile des Index ohne Dokument: {removed:,}.</translation>
    </message>
    <message>
        <source>Perhaps it is private, and the token does not let you read it.</source>
        <translation>Vielleicht ist es privat, und das Token erlaubt nicht, es zu lesen.</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>Zugriff verweigert</translation>
    </message>
    <message>
        <source>Pick one of its models in Settings.</source>
        <translation>Wählen Sie in den Einstellungen eines seiner Modelle.</translation>
    </message>
    <message>
        <source>Pictures and scanned pages that wait to be read:</source>
        <translation>Bilder und gescannte Seiten, die noch gelesen werden:</translation>
    </message>
    <message>
        <source>Pictures and scanned pages that wait to be read: {count}.</source>
        <translation>Bilder und gescannte Seiten, die noch gelesen werden: {count}.</translation>
    </message>
    <message>
        <source>Port {port} is not one of web pages.</source>
        <translation>Port {port} wird für Webseiten nicht verwendet.</translation>
    </message>
    <message>
        <source>Port {port} is taken by another program.</source>
        <translation>Port {port} ist von einem anderen Programm belegt.</translation>
    </message>
    <message>
        <source>Ports below 1024 are often for the system. Choose another one.</source>
        <translation>Ports unter 1024 sind oft dem System vorbehalten. Wählen Sie einen anderen.</translation>
    </message>
    <message>
        <source>PostScript</source>
        <translation>PostScript</translation>
    </message>
    <message>
        <source>PostgreSQL {server_version} with pgvector {vector_version} keeps the library. It takes {size_bytes} with its indexes: {listed}.</source>
        <translation>PostgreSQL {server_version} mit pgvector {vector_version} hält die Bibliothek. Sie belegt mit ihren Indizes {size_bytes}: {listed}.</translation>
    </message>
    <message>
        <source>PowerPoint 4 or 95</source>
        <translation>PowerPoint 4 oder 95</translation>
    </message>
    <message>
        <source>Press Retry, or choose another model in Settings.</source>
        <translation>Drücken Sie „Erneut versuchen“, oder wählen Sie in den Einstellungen ein anderes Modell.</translation>
    </message>
    <message>
        <source>Press Retry, or pick another model in Settings.</source>
        <translation>Drücken Sie „Erneut versuchen“, oder wählen Sie in den Einstellungen ein anderes Modell.</translation>
    </message>
    <message>
        <source>Press Retry. If it happens again, check the server&apos;s log.</source>
        <translation>Drücken Sie „Erneut versuchen“. Wenn es wieder geschieht, sehen Sie ins Protokoll des Servers.</translation>
    </message>
    <message>
        <source>Process {value} holds {path}. Close it, or use its window.</source>
        <translation>Prozess {value} hält {path} offen. Beenden Sie ihn, oder benutzen Sie sein Fenster.</translation>
    </message>
    <message>
        <source>Raise max_connections on the server, or end programs that keep connections open.</source>
        <translation>Erhöhen Sie max_connections auf dem Server, oder beenden Sie Programme, die Verbindungen offen halten.</translation>
    </message>
    <message>
        <source>Raise the limit: sudo sysctl fs.inotify.{name}={value}</source>
        <translation>Erhöhen Sie die Grenze: sudo sysctl fs.inotify.{name}={value}</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>Dateisystem ist schreibgeschützt</translation>
    </message>
    <message>
        <source>Reading chats and settings…</source>
        <translation>Chats und Einstellungen werden gelesen…</translation>
    </message>
    <message>
        <source>Reading files keeps failing.</source>
        <translation>Das Lesen von Dateien schlägt immer wieder fehl.</translation>
    </message>
    <message>
        <source>Reading text from pictures failed: {exc}</source>
        <translation>Das Lesen von Text aus Bildern schlug fehl: {exc}</translation>
    </message>
    <message>
        <source>Reading the file takes too much memory</source>
        <translation>Das Lesen der Datei braucht zu viel Speicher</translation>
    </message>
    <message>
        <source>Reading the picture failed: {exc}</source>
        <translation>Das Lesen des Bildes schlug fehl: {exc}</translation>
    </message>
    <message>
        <source>Reads {context_tokens:,} tokens{more}</source>
        <translation>Liest {context_tokens:,} Token{more}</translation>
    </message>
    <message>
        <source>Recordings are transcribed where they are files in a folder of the library.</source>
        <translation>Aufnahmen werden transkribiert, wenn sie Dateien in einem Ordner der Bibliothek sind.</translation>
    </message>
    <message>
        <source>Recordings wait. They are tried again by themselves.</source>
        <translation>Aufnahmen warten. Sie werden von selbst noch einmal versucht.</translation>
    </message>
    <message>
        <source>Reduce the context in Settings (now {context_tokens} tokens) or start a new chat.</source>
        <translation>Verringern Sie den Kontext in den Einstellungen (jetzt {context_tokens} Token), oder beginnen Sie einen neuen Chat.</translation>
    </message>
    <message>
        <source>Reduce the context in Settings (now {context_tokens} tokens).</source>
        <translation>Verringern Sie den Kontext in den Einstellungen (jetzt {context_tokens} Token).</translation>
    </message>
    <message>
        <source>Refresh it again.</source>
        <translation>Frischen Sie sie noch einmal auf.</translation>
    </message>
    <message>
        <source>Refresh them there, or add them to another collection.</source>
        <translation>Frischen Sie sie dort auf, oder fügen Sie sie einer anderen Sammlung hinzu.</translation>
    </message>
    <message>
        <source>Refused a longer request at {at}: {tokens:,} tokens are sent at most ({how}). More is tried again at {ends}.</source>
        <translation>Lehnte um {at} eine längere Anfrage ab: Höchstens {tokens:,} Token werden gesendet ({how}). Ab {ends} wird mehr versucht.</translation>
    </message>
    <message>
        <source>Remove everything before the @; a key has its own field in Settings.</source>
        <translation>Entfernen Sie alles vor dem @; ein Schlüssel hat in den Einstellungen ein eigenes Feld.</translation>
    </message>
    <message>
        <source>Remove its schema from the database, and copy a library there: desktop-rag copy.</source>
        <translation>Entfernen Sie ihr Schema aus der Datenbank und kopieren Sie eine Bibliothek dorthin: desktop-rag copy.</translation>
    </message>
    <message>
        <source>Remove one first.</source>
        <translation>Entfernen Sie zuerst eines.</translation>
    </message>
    <message>
        <source>Remove some of them and try again.</source>
        <translation>Entfernen Sie einige, und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Remove some of them, and ask about them later.</source>
        <translation>Entfernen Sie einige, und fragen Sie später danach.</translation>
    </message>
    <message>
        <source>Remove what stands before the @: pages that want a login can&apos;t be fetched.</source>
        <translation>Entfernen Sie, was vor dem @ steht: Seiten, die eine Anmeldung verlangen, können nicht abgerufen werden.</translation>
    </message>
    <message>
        <source>Remove {path} and make new tokens. Until then nobody is let in.</source>
        <translation>Entfernen Sie {path}, und legen Sie neue Token an. Bis dahin wird niemand eingelassen.</translation>
    </message>
    <message>
        <source>Remove {path} first, then add {path2}.</source>
        <translation>Entfernen Sie zuerst {path}, und fügen Sie dann {path2} hinzu.</translation>
    </message>
    <message>
        <source>Round {number} is not the last one.</source>
        <translation>Runde {number} ist nicht die letzte.</translation>
    </message>
    <message>
        <source>Row {last_row} can&apos;t be told apart.</source>
        <translation>Zeile {last_row} lässt sich nicht aufteilen.</translation>
    </message>
    <message>
        <source>Run the command again later.</source>
        <translation>Führen Sie den Befehl später noch einmal aus.</translation>
    </message>
    <message>
        <source>Save a copy without a password.</source>
        <translation>Speichern Sie eine Kopie ohne Passwort.</translation>
    </message>
    <message>
        <source>Save it as .xlsx in a spreadsheet program, and it is read.</source>
        <translation>Speichern Sie sie in einer Tabellenkalkulation als .xlsx, dann wird sie gelesen.</translation>
    </message>
    <message>
        <source>Save it as CSV UTF-8.</source>
        <translation>Speichern Sie sie als CSV UTF-8.</translation>
    </message>
    <message>
        <source>Say it in the words of one of them: Settings, under Commands, lists them.</source>
        <translation>Sagen Sie es in den Worten von einem: Sie stehen in den Einstellungen unter „Befehle“.</translation>
    </message>
    <message>
        <source>Say what the note is to be about.</source>
        <translation>Sagen Sie, worum es in der Notiz gehen soll.</translation>
    </message>
    <message>
        <source>Say: {said_by}</source>
        <translation>Sagen Sie: {said_by}</translation>
    </message>
    <message>
        <source>Searches again by itself where the first passages don&apos;t answer.</source>
        <translation>Sucht selbst weiter, wo die ersten Textstellen nicht antworten.</translation>
    </message>
    <message>
        <source>Searches compare all vectors until it is ready.</source>
        <translation>Suchen vergleichen alle Vektoren, bis er fertig ist.</translation>
    </message>
    <message>
        <source>Searches compare all vectors. It is built when nothing else is to be done.</source>
        <translation>Suchen vergleichen alle Vektoren. Er wird aufgebaut, wenn sonst nichts zu tun ist.</translation>
    </message>
    <message>
        <source>Searches read from it.</source>
        <translation>Suchen lesen von ihr.</translation>
    </message>
    <message>
        <source>Searches read from the primary: it is more than {most_lag_s} seconds behind, or lacks what this program wrote.</source>
        <translation>Suchen lesen vom Hauptserver: Sie liegt mehr als {most_lag_s} Sekunden zurück, oder ihr fehlt, was dieses Programm geschrieben hat.</translation>
    </message>
    <message>
        <source>Searches use it.</source>
        <translation>Suchen verwenden ihn.</translation>
    </message>
    <message>
        <source>See: desktop-rag source list</source>
        <translation>Siehe: desktop-rag source list</translation>
    </message>
    <message>
        <source>Sees images.</source>
        <translation>Sieht Bilder.</translation>
    </message>
    <message>
        <source>Sees no images.</source>
        <translation>Sieht keine Bilder.</translation>
    </message>
    <message>
        <source>Sends answers whole, not piece by piece.</source>
        <translation>Sendet Antworten im Ganzen, nicht Stück für Stück.</translation>
    </message>
    <message>
        <source>Set `address` under [store] in the settings file, as postgresql://user@host/database, and `library` to small letters, digits and underscores.</source>
        <translation>Setzen Sie in der Einstellungsdatei unter [store] `address`, wie postgresql://user@host/database, und `library` auf Kleinbuchstaben, Ziffern und Unterstriche.</translation>
    </message>
    <message>
        <source>Set-up {number} has a wrong field.</source>
        <translation>Aufbau {number} hat ein falsches Feld.</translation>
    </message>
    <message>
        <source>Settings of the wrong kind were ignored: {wrong}.</source>
        <translation>Einstellungen der falschen Art wurden übergangen: {wrong}.</translation>
    </message>
    <message>
        <source>Settings, under Commands, lists those that are.</source>
        <translation>Die registrierten stehen in den Einstellungen unter „Befehle“.</translation>
    </message>
    <message>
        <source>Slots: {value}</source>
        <translation>Lücken: {value}</translation>
    </message>
    <message>
        <source>Snapshots: {days}.</source>
        <translation>Sicherungsstände: {days}.</translation>
    </message>
    <message>
        <source>Something is wrong at {exc}.</source>
        <translation>Etwas stimmt nicht bei {exc}.</translation>
    </message>
    <message>
        <source>Stale file handle</source>
        <translation>Veralteter Dateiverweis</translation>
    </message>
    <message>
        <source>Start it once; it makes {parent}.</source>
        <translation>Starten Sie es einmal; es legt {parent} an.</translation>
    </message>
    <message>
        <source>Start the app again.</source>
        <translation>Starten Sie die App noch einmal.</translation>
    </message>
    <message>
        <source>Start the app once.</source>
        <translation>Starten Sie die App einmal.</translation>
    </message>
    <message>
        <source>Start the app once: it brings the library up to date.</source>
        <translation>Starten Sie die App einmal: Sie bringt die Bibliothek auf den neuen Stand.</translation>
    </message>
    <message>
        <source>Start the app to change it.</source>
        <translation>Starten Sie die App, um sie zu ändern.</translation>
    </message>
    <message>
        <source>Start the app: it restores chats and folders from the journal beside the library, then reads your folders again.</source>
        <translation>Starten Sie die App: Sie stellt Chats und Ordner aus dem Journal neben der Bibliothek wieder her und liest dann Ihre Ordner neu.</translation>
    </message>
    <message>
        <source>Start the app: it restores what the library lost from the journal.</source>
        <translation>Starten Sie die App: Sie stellt aus dem Journal wieder her, was der Bibliothek fehlt.</translation>
    </message>
    <message>
        <source>Start the app: it writes the journal anew from the library.</source>
        <translation>Starten Sie die App: Sie schreibt das Journal aus der Bibliothek neu.</translation>
    </message>
    <message>
        <source>Starting at login could not be changed.</source>
        <translation>Der Start bei der Anmeldung konnte nicht geändert werden.</translation>
    </message>
    <message>
        <source>Status {status}.</source>
        <translation>Status {status}.</translation>
    </message>
    <message>
        <source>Such networks are 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7.</source>
        <translation>Solche Netze sind 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7.</translation>
    </message>
    <message>
        <source>Takes no system message: it is sent with the question.</source>
        <translation>Nimmt keine Systemnachricht an: Sie wird mit der Frage gesendet.</translation>
    </message>
    <message>
        <source>Text was read from pictures; there may be mistakes in it.</source>
        <translation>Der Text wurde aus Bildern gelesen; er kann Fehler enthalten.</translation>
    </message>
    <message>
        <source>The X server refused it (error {error}).</source>
        <translation>Der X-Server hat es abgelehnt (Fehler {error}).</translation>
    </message>
    <message>
        <source>The account at the endpoint has no credit left.</source>
        <translation>Das Konto beim Endpunkt hat kein Guthaben mehr.</translation>
    </message>
    <message>
        <source>The address does not name a model.</source>
        <translation>Die Adresse nennt kein Modell.</translation>
    </message>
    <message>
        <source>The address holds a name or a password.</source>
        <translation>Die Adresse enthält einen Namen oder ein Passwort.</translation>
    </message>
    <message>
        <source>The address is a number that no browser shows.</source>
        <translation>Die Adresse ist eine Zahl, wie sie kein Browser anzeigt.</translation>
    </message>
    <message>
        <source>The address lacks the name of a project.</source>
        <translation>Der Adresse fehlt der Name eines Projekts.</translation>
    </message>
    <message>
        <source>The address or the name of the library on the server is missing.</source>
        <translation>Die Adresse oder der Name der Bibliothek auf dem Server fehlt.</translation>
    </message>
    <message>
        <source>The address points from one page to the next, endlessly.</source>
        <translation>Die Adresse verweist endlos von einer Seite zur nächsten.</translation>
    </message>
    <message>
        <source>The address {url} is not that of an API: check it in Settings.</source>
        <translation>Die Adresse {url} ist nicht die einer API: Prüfen Sie sie in den Einstellungen.</translation>
    </message>
    <message>
        <source>The answer came too slowly.</source>
        <translation>Die Antwort kam zu langsam.</translation>
    </message>
    <message>
        <source>The answer cited another source here; source {n} says it.</source>
        <translation>Die Antwort nannte hier eine andere Quelle; Quelle {n} sagt es.</translation>
    </message>
    <message>
        <source>The answer could not be kept.</source>
        <translation>Die Antwort konnte nicht aufbewahrt werden.</translation>
    </message>
    <message>
        <source>The answer is not complete.</source>
        <translation>Die Antwort ist nicht vollständig.</translation>
    </message>
    <message>
        <source>The answer may not be complete.</source>
        <translation>Die Antwort ist vielleicht nicht vollständig.</translation>
    </message>
    <message>
        <source>The answer of the server can&apos;t be read.</source>
        <translation>Die Antwort des Servers ist nicht lesbar.</translation>
    </message>
    <message>
        <source>The answer reached the length limit of the endpoint. Ask the model to continue.</source>
        <translation>Die Antwort hat die Längengrenze des Endpunkts erreicht. Bitten Sie das Modell fortzufahren.</translation>
    </message>
    <message>
        <source>The answer says “{said}”, the source doesn&apos;t.</source>
        <translation>Die Antwort sagt „{said}“, die Quelle nicht.</translation>
    </message>
    <message>
        <source>The answer was broken off.</source>
        <translation>Die Antwort wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The answer was cut off.</source>
        <translation>Die Antwort wurde abgeschnitten.</translation>
    </message>
    <message>
        <source>The answer was given again meanwhile.</source>
        <translation>Die Antwort wurde inzwischen neu gegeben.</translation>
    </message>
    <message>
        <source>The answer was stopped.</source>
        <translation>Die Antwort wurde angehalten.</translation>
    </message>
    <message>
        <source>The app creates it when it starts.</source>
        <translation>Die App legt sie beim Start an.</translation>
    </message>
    <message>
        <source>The app is still ending.</source>
        <translation>Die App wird noch beendet.</translation>
    </message>
    <message>
        <source>The app made a mistake. Its log says more.</source>
        <translation>Die App hat einen Fehler gemacht. Ihr Protokoll sagt mehr.</translation>
    </message>
    <message>
        <source>The app&apos;s folder cannot be used.</source>
        <translation>Der Ordner der App kann nicht benutzt werden.</translation>
    </message>
    <message>
        <source>The assistant has no name.</source>
        <translation>Der Assistent hat keinen Namen.</translation>
    </message>
    <message>
        <source>The assistant of “{name}” is gone.</source>
        <translation>Den Assistenten von „{name}“ gibt es nicht mehr.</translation>
    </message>
    <message>
        <source>The backup could not be read.</source>
        <translation>Die Sicherung konnte nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The backup could not be written.</source>
        <translation>Die Sicherung konnte nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>The backup was written by another version of the app.</source>
        <translation>Die Sicherung stammt von einer anderen Version der App.</translation>
    </message>
    <message>
        <source>The body is not a JSON object.</source>
        <translation>Der Inhalt ist kein JSON-Objekt.</translation>
    </message>
    <message>
        <source>The body is not valid JSON.</source>
        <translation>Der Inhalt ist kein gültiges JSON.</translation>
    </message>
    <message>
        <source>The body must be application/json.</source>
        <translation>Der Inhalt muss application/json sein.</translation>
    </message>
    <message>
        <source>The chat could not be read.</source>
        <translation>Der Chat konnte nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The chat has gone on since.</source>
        <translation>Der Chat ist inzwischen weitergegangen.</translation>
    </message>
    <message>
        <source>The client secret of the provider can&apos;t be read.</source>
        <translation>Das Client-Geheimnis beim Anbieter kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The closest name is “{closest}”.</source>
        <translation>Der ähnlichste Name ist „{closest}“.</translation>
    </message>
    <message>
        <source>The collection no longer exists.</source>
        <translation>Die Sammlung gibt es nicht mehr.</translation>
    </message>
    <message>
        <source>The collections of “{name}” are gone.</source>
        <translation>Die Sammlungen von „{name}“ gibt es nicht mehr.</translation>
    </message>
    <message>
        <source>The command doesn&apos;t answer as an MCP server.</source>
        <translation>Der Befehl antwortet nicht als MCP-Server.</translation>
    </message>
    <message>
        <source>The command line cannot reach this window.</source>
        <translation>Die Befehlszeile erreicht dieses Fenster nicht.</translation>
    </message>
    <message>
        <source>The command was not found.</source>
        <translation>Der Befehl wurde nicht gefunden.</translation>
    </message>
    <message>
        <source>The computer has ended “{name}”, most likely for lack of memory.</source>
        <translation>Der Computer hat „{name}“ beendet, wahrscheinlich aus Mangel an Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>The connection to {place} failed.</source>
        <translation>Die Verbindung zu {place} ist fehlgeschlagen.</translation>
    </message>
    <message>
        <source>The content is {format_name}, though the name {named}.</source>
        <translation>Der Inhalt ist von der Art {format_name}, obwohl der Name {named}.</translation>
    </message>
    <message>
        <source>The daily snapshot could not be made.</source>
        <translation>Der tägliche Sicherungsstand konnte nicht angelegt werden.</translation>
    </message>
    <message>
        <source>The damaged file was kept as {kept}.</source>
        <translation>Die beschädigte Datei liegt weiter unter {kept}.</translation>
    </message>
    <message>
        <source>The database does not allow that.</source>
        <translation>Die Datenbank erlaubt das nicht.</translation>
    </message>
    <message>
        <source>The database server does not answer.</source>
        <translation>Der Datenbankserver antwortet nicht.</translation>
    </message>
    <message>
        <source>The database server has no pgvector, or an old one.</source>
        <translation>Der Datenbankserver hat kein pgvector oder ein altes.</translation>
    </message>
    <message>
        <source>The database server is too old.</source>
        <translation>Der Datenbankserver ist zu alt.</translation>
    </message>
    <message>
        <source>The desktop did not answer in time.</source>
        <translation>Der Desktop hat nicht rechtzeitig geantwortet.</translation>
    </message>
    <message>
        <source>The desktop did not bind it. Its settings may offer it.</source>
        <translation>Der Desktop hat sie nicht belegt. Vielleicht lässt sie sich in seinen Einstellungen belegen.</translation>
    </message>
    <message>
        <source>The desktop ended the request.</source>
        <translation>Der Desktop hat die Anfrage beendet.</translation>
    </message>
    <message>
        <source>The desktop refused it.</source>
        <translation>Der Desktop hat es abgelehnt.</translation>
    </message>
    <message>
        <source>The disk is full.</source>
        <translation>Der Datenträger ist voll.</translation>
    </message>
    <message>
        <source>The disk of the database server is full.</source>
        <translation>Der Datenträger des Datenbankservers ist voll.</translation>
    </message>
    <message>
        <source>The disk refuses to work.</source>
        <translation>Der Datenträger arbeitet nicht.</translation>
    </message>
    <message>
        <source>The disk reports a read or write error.</source>
        <translation>Der Datenträger meldet einen Lese- oder Schreibfehler.</translation>
    </message>
    <message>
        <source>The disk with the library does not respond.</source>
        <translation>Der Datenträger mit der Bibliothek antwortet nicht.</translation>
    </message>
    <message>
        <source>The document is no longer in the library.</source>
        <translation>Das Dokument ist nicht mehr in der Bibliothek.</translation>
    </message>
    <message>
        <source>The embedding model in {folder} cannot be used.</source>
        <translation>Das Einbettungsmodell in {folder} kann nicht benutzt werden.</translation>
    </message>
    <message>
        <source>The endpoint answered with a web page.</source>
        <translation>Der Endpunkt antwortete mit einer Webseite.</translation>
    </message>
    <message>
        <source>The endpoint answers. Choose a model.</source>
        <translation>Der Endpunkt antwortet. Wählen Sie ein Modell.</translation>
    </message>
    <message>
        <source>The endpoint cannot be reached.</source>
        <translation>Der Endpunkt ist nicht erreichbar.</translation>
    </message>
    <message>
        <source>The endpoint closed the connection without an answer.</source>
        <translation>Der Endpunkt hat die Verbindung ohne Antwort geschlossen.</translation>
    </message>
    <message>
        <source>The endpoint did not accept the request.</source>
        <translation>Der Endpunkt hat die Anfrage nicht angenommen.</translation>
    </message>
    <message>
        <source>The endpoint did not allow this.</source>
        <translation>Der Endpunkt hat das nicht erlaubt.</translation>
    </message>
    <message>
        <source>The endpoint did not answer within {connect_s} seconds.</source>
        <translation>Der Endpunkt hat nicht innerhalb von {connect_s} Sekunden geantwortet.</translation>
    </message>
    <message>
        <source>The endpoint did not produce an answer in time.</source>
        <translation>Der Endpunkt hat nicht rechtzeitig eine Antwort erzeugt.</translation>
    </message>
    <message>
        <source>The endpoint does not answer like a web server.</source>
        <translation>Der Endpunkt antwortet nicht wie ein Webserver.</translation>
    </message>
    <message>
        <source>The endpoint does not know the model “{model}”.</source>
        <translation>Der Endpunkt kennt das Modell „{model}“ nicht.</translation>
    </message>
    <message>
        <source>The endpoint does not support https.</source>
        <translation>Der Endpunkt unterstützt kein https.</translation>
    </message>
    <message>
        <source>The endpoint ended it with “{said}”, which does not mean that all was said. Press Retry.</source>
        <translation>Der Endpunkt beendete sie mit „{said}“, was nicht heißt, dass alles gesagt wurde. Drücken Sie „Erneut versuchen“.</translation>
    </message>
    <message>
        <source>The endpoint ended it with “{said}”. Press Retry; what came before is kept.</source>
        <translation>Der Endpunkt beendete sie mit „{said}“. Drücken Sie „Erneut versuchen“; was schon da ist, bleibt erhalten.</translation>
    </message>
    <message>
        <source>The endpoint ended the connection before the answer was finished. Press Retry.</source>
        <translation>Der Endpunkt hat die Verbindung beendet, bevor die Antwort fertig war. Drücken Sie „Erneut versuchen“.</translation>
    </message>
    <message>
        <source>The endpoint failed.</source>
        <translation>Beim Endpunkt ist ein Fehler aufgetreten.</translation>
    </message>
    <message>
        <source>The endpoint has no list of models: enter the name of one.</source>
        <translation>Der Endpunkt hat keine Liste von Modellen: Geben Sie den Namen eines Modells ein.</translation>
    </message>
    <message>
        <source>The endpoint has no model loaded.</source>
        <translation>Der Endpunkt hat kein Modell geladen.</translation>
    </message>
    <message>
        <source>The endpoint has nothing at this address.</source>
        <translation>Der Endpunkt hat unter dieser Adresse nichts.</translation>
    </message>
    <message>
        <source>The endpoint is overloaded.</source>
        <translation>Der Endpunkt ist überlastet.</translation>
    </message>
    <message>
        <source>The endpoint is still loading its model.</source>
        <translation>Der Endpunkt lädt noch sein Modell.</translation>
    </message>
    <message>
        <source>The endpoint of “{name}” is no longer set up.</source>
        <translation>Der Endpunkt von „{name}“ ist nicht mehr eingetragen.</translation>
    </message>
    <message>
        <source>The endpoint of “{name}” is not set up.</source>
        <translation>Der Endpunkt von „{name}“ ist nicht eingetragen.</translation>
    </message>
    <message>
        <source>The endpoint points to another address.</source>
        <translation>Der Endpunkt verweist auf eine andere Adresse.</translation>
    </message>
    <message>
        <source>The endpoint refused the connection.</source>
        <translation>Der Endpunkt hat die Verbindung abgelehnt.</translation>
    </message>
    <message>
        <source>The endpoint requires a key.</source>
        <translation>Der Endpunkt verlangt einen Schlüssel.</translation>
    </message>
    <message>
        <source>The endpoint withheld the answer.</source>
        <translation>Der Endpunkt hat die Antwort zurückgehalten.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s address contains a user name or a password.</source>
        <translation>Die Adresse des Endpunkts enthält einen Benutzernamen oder ein Passwort.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s address contains several keys.</source>
        <translation>Die Adresse des Endpunkts enthält mehrere Schlüssel.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s address is not a web address.</source>
        <translation>Die Adresse des Endpunkts ist keine Webadresse.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s address was not found.</source>
        <translation>Die Adresse des Endpunkts wurde nicht gefunden.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s answer became unreadable.</source>
        <translation>Die Antwort des Endpunkts wurde unleserlich.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s answer could not be read.</source>
        <translation>Die Antwort des Endpunkts konnte nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s answer did not end.</source>
        <translation>Die Antwort des Endpunkts nahm kein Ende.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s answer is compressed in a way that cannot be read.</source>
        <translation>Die Antwort des Endpunkts ist so komprimiert, dass sie nicht gelesen werden kann.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s certificate was not accepted.</source>
        <translation>Das Zertifikat des Endpunkts wurde nicht anerkannt.</translation>
    </message>
    <message>
        <source>The endpoint&apos;s limit of requests is reached.</source>
        <translation>Die Anfragegrenze des Endpunkts ist erreicht.</translation>
    </message>
    <message>
        <source>The entries of the app in this desktop could not be changed.</source>
        <translation>Die Einträge der App in diesem Desktop konnten nicht geändert werden.</translation>
    </message>
    <message>
        <source>The entry leads to another site.</source>
        <translation>Der Eintrag führt zu einer anderen Website.</translation>
    </message>
    <message>
        <source>The feed can&apos;t be read: {exc}.</source>
        <translation>Der Feed kann nicht gelesen werden: {exc}.</translation>
    </message>
    <message>
        <source>The fields are {known}, {more}, embedder.</source>
        <translation>Die Felder sind {known}, {more}, embedder.</translation>
    </message>
    <message>
        <source>The figures give {value}, the answer says {said}.</source>
        <translation>Die Zahlen ergeben {value}, die Antwort sagt {said}.</translation>
    </message>
    <message>
        <source>The file can&apos;t be opened</source>
        <translation>Die Datei kann nicht geöffnet werden</translation>
    </message>
    <message>
        <source>The file can&apos;t be read</source>
        <translation>Die Datei kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>The file cannot be opened: {why}</source>
        <translation>Die Datei kann nicht geöffnet werden: {why}</translation>
    </message>
    <message>
        <source>The file does not tell which characters the letters on its pages are.</source>
        <translation>Die Datei verrät nicht, für welche Zeichen die Buchstaben auf ihren Seiten stehen.</translation>
    </message>
    <message>
        <source>The file has more pictures than are read.</source>
        <translation>Die Datei hat mehr Bilder, als gelesen werden.</translation>
    </message>
    <message>
        <source>The file has {pages}.</source>
        <translation>Die Datei hat {pages}.</translation>
    </message>
    <message>
        <source>The file holds more text than is read.</source>
        <translation>Die Datei enthält mehr Text, als gelesen wird.</translation>
    </message>
    <message>
        <source>The file is damaged</source>
        <translation>Die Datei ist beschädigt</translation>
    </message>
    <message>
        <source>The file is gone</source>
        <translation>Die Datei ist nicht mehr da</translation>
    </message>
    <message>
        <source>The file is made to exhaust its reader</source>
        <translation>Die Datei ist darauf angelegt, ihren Leser zu überlasten</translation>
    </message>
    <message>
        <source>The file is no CSV.</source>
        <translation>Die Datei ist kein CSV.</translation>
    </message>
    <message>
        <source>The file is not in the storage folder of Zotero.</source>
        <translation>Die Datei ist nicht im Speicherordner von Zotero.</translation>
    </message>
    <message>
        <source>The file is too large</source>
        <translation>Die Datei ist zu groß</translation>
    </message>
    <message>
        <source>The file unpacks to too much</source>
        <translation>Entpackt wird die Datei zu groß</translation>
    </message>
    <message>
        <source>The folder of the library is away.</source>
        <translation>Der Ordner der Bibliothek ist nicht da.</translation>
    </message>
    <message>
        <source>The free space of {folder} cannot be read ({strerror}).</source>
        <translation>Der freie Platz von {folder} lässt sich nicht ermitteln ({strerror}).</translation>
    </message>
    <message>
        <source>The hidden sheet {name} is not read.</source>
        <translation>Das ausgeblendete Blatt {name} wird nicht gelesen.</translation>
    </message>
    <message>
        <source>The history of commands could not be written.</source>
        <translation>Der Verlauf der Befehle konnte nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>The host points from one address to another.</source>
        <translation>Der Host verweist von einer Adresse auf die nächste.</translation>
    </message>
    <message>
        <source>The host points to an address without https.</source>
        <translation>Der Host verweist auf eine Adresse ohne https.</translation>
    </message>
    <message>
        <source>The index could not be unpacked.</source>
        <translation>Der Index konnte nicht entpackt werden.</translation>
    </message>
    <message>
        <source>The index disagrees with itself: {broken}.</source>
        <translation>Der Index widerspricht sich: {broken}.</translation>
    </message>
    <message>
        <source>The index in the backup cannot be read.</source>
        <translation>Der Index in der Sicherung kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The index in the backup does not fit this library.</source>
        <translation>Der Index in der Sicherung passt nicht zu dieser Bibliothek.</translation>
    </message>
    <message>
        <source>The index of a library on a server can&apos;t be part of a backup.</source>
        <translation>Der Index einer Bibliothek auf einem Server kann nicht Teil einer Sicherung sein.</translation>
    </message>
    <message>
        <source>The index of the {vectors:,} vectors of {model}: {value}.</source>
        <translation>Der Index der {vectors:,} Vektoren von {model}: {value}.</translation>
    </message>
    <message>
        <source>The instructions are longer than {longest_instructions:,} characters.</source>
        <translation>Die Anweisungen sind länger als {longest_instructions:,} Zeichen.</translation>
    </message>
    <message>
        <source>The instructions are too long.</source>
        <translation>Die Anweisungen sind zu lang.</translation>
    </message>
    <message>
        <source>The journal beside the library cannot be read.</source>
        <translation>Das Journal neben der Bibliothek kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The journal beside the library is gone.</source>
        <translation>Das Journal neben der Bibliothek ist nicht mehr da.</translation>
    </message>
    <message>
        <source>The journal holds all {stored:,} changes of chats and folders.</source>
        <translation>Das Journal enthält alle {stored:,} Änderungen an Chats und Ordnern.</translation>
    </message>
    <message>
        <source>The journal stops at change {written:,}, the library at {stored:,}.</source>
        <translation>Das Journal endet bei Änderung {written:,}, die Bibliothek bei {stored:,}.</translation>
    </message>
    <message>
        <source>The key contains invalid characters.</source>
        <translation>Der Schlüssel enthält ungültige Zeichen.</translation>
    </message>
    <message>
        <source>The key doesn&apos;t belong to the certificate.</source>
        <translation>Der Schlüssel gehört nicht zu dem Zertifikat.</translation>
    </message>
    <message>
        <source>The key is protected by a password.</source>
        <translation>Der Schlüssel ist durch ein Passwort geschützt.</translation>
    </message>
    <message>
        <source>The key may not cover “{model}”. Choose another model, or ask who runs the server.</source>
        <translation>Der Schlüssel gilt vielleicht nicht für „{model}“. Wählen Sie ein anderes Modell, oder fragen Sie, wer den Server betreibt.</translation>
    </message>
    <message>
        <source>The key of the server&apos;s links can&apos;t be read.</source>
        <translation>Der Schlüssel für die Links des Servers kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The key was not accepted.</source>
        <translation>Der Schlüssel wurde nicht angenommen.</translation>
    </message>
    <message>
        <source>The library cannot be locked.</source>
        <translation>Die Bibliothek kann nicht gesperrt werden.</translation>
    </message>
    <message>
        <source>The library cannot be opened.</source>
        <translation>Die Bibliothek kann nicht geöffnet werden.</translation>
    </message>
    <message>
        <source>The library cannot be written.</source>
        <translation>In die Bibliothek kann nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>The library file cannot be read or written.</source>
        <translation>Die Bibliotheksdatei kann nicht gelesen oder geschrieben werden.</translation>
    </message>
    <message>
        <source>The library file is as it was.</source>
        <translation>Die Bibliotheksdatei ist, wie sie war.</translation>
    </message>
    <message>
        <source>The library file is damaged.</source>
        <translation>Die Bibliotheksdatei ist beschädigt.</translation>
    </message>
    <message>
        <source>The library file is gone.</source>
        <translation>Die Bibliotheksdatei ist nicht mehr da.</translation>
    </message>
    <message>
        <source>The library had lost its latest changes. Chats and folders are complete again.</source>
        <translation>Der Bibliothek fehlten ihre letzten Änderungen. Chats und Ordner sind wieder vollständig.</translation>
    </message>
    <message>
        <source>The library has an index already.</source>
        <translation>Die Bibliothek hat schon einen Index.</translation>
    </message>
    <message>
        <source>The library holds everything itself. “desktop-rag doctor --repair” writes the journal anew.</source>
        <translation>Die Bibliothek selbst enthält alles. „desktop-rag doctor --repair“ schreibt das Journal neu.</translation>
    </message>
    <message>
        <source>The library is closed.</source>
        <translation>Die Bibliothek ist geschlossen.</translation>
    </message>
    <message>
        <source>The library is in use by another process.</source>
        <translation>Die Bibliothek wird von einem anderen Prozess benutzt.</translation>
    </message>
    <message>
        <source>The library is not open.</source>
        <translation>Die Bibliothek ist nicht offen.</translation>
    </message>
    <message>
        <source>The library is of an earlier version.</source>
        <translation>Die Bibliothek stammt von einer früheren Version.</translation>
    </message>
    <message>
        <source>The library is open for reading only.</source>
        <translation>Die Bibliothek ist nur zum Lesen geöffnet.</translation>
    </message>
    <message>
        <source>The library needs PostgreSQL 17 or newer with pgvector 0.8 or newer.</source>
        <translation>Die Bibliothek braucht PostgreSQL 17 oder neuer mit pgvector 0.8 oder neuer.</translation>
    </message>
    <message>
        <source>The library on the server is from a newer version of the app.</source>
        <translation>Die Bibliothek auf dem Server stammt von einer neueren Version der App.</translation>
    </message>
    <message>
        <source>The library on the server was changed by another version of the app.</source>
        <translation>Eine andere Version der App hat die Bibliothek auf dem Server geändert.</translation>
    </message>
    <message>
        <source>The library on the server was written by an app from before the first release.</source>
        <translation>Die Bibliothek auf dem Server schrieb eine App vor der ersten Version.</translation>
    </message>
    <message>
        <source>The library stops at change {stored:,}, its journal at {written:,}.</source>
        <translation>Die Bibliothek endet bei Änderung {stored:,}, ihr Journal bei {written:,}.</translation>
    </message>
    <message>
        <source>The library was gone and was restored from the snapshot of {day}.</source>
        <translation>Die Bibliothek war verschwunden und wurde aus dem Sicherungsstand vom {day} wiederhergestellt.</translation>
    </message>
    <message>
        <source>The library was repaired.</source>
        <translation>Die Bibliothek wurde repariert.</translation>
    </message>
    <message>
        <source>The library was written by a newer version of the app.</source>
        <translation>Die Bibliothek wurde von einer neueren Version der App geschrieben.</translation>
    </message>
    <message>
        <source>The library was written by an app from before the first release.</source>
        <translation>Die Bibliothek schrieb eine App vor der ersten Version.</translation>
    </message>
    <message>
        <source>The library was written by an earlier version of the app.</source>
        <translation>Die Bibliothek wurde von einer früheren Version der App geschrieben.</translation>
    </message>
    <message>
        <source>The limit for {label} is reached: {endpoint}.</source>
        <translation>Die Grenze für {label} ist erreicht: {endpoint}.</translation>
    </message>
    <message>
        <source>The limit for {label} is reached: {most} a day.</source>
        <translation>Die Grenze für {label} ist erreicht: {most} am Tag.</translation>
    </message>
    <message>
        <source>The limit is {limits}: continuing in {pause_s} s.</source>
        <translation>Die Grenze liegt bei {limits}: Weiter geht es in {pause_s} s.</translation>
    </message>
    <message>
        <source>The limits of the chat model have not been measured yet.</source>
        <translation>Die Grenzen des Chatmodells wurden noch nicht gemessen.</translation>
    </message>
    <message>
        <source>The list of folders cannot be read.</source>
        <translation>Die Liste der Ordner kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The list of the bundled model files cannot be read ({exc}).</source>
        <translation>Die Liste der mitgelieferten Modelldateien kann nicht gelesen werden ({exc}).</translation>
    </message>
    <message>
        <source>The listing of the folder can&apos;t be read: {exc}.</source>
        <translation>Die Liste des Ordners kann nicht gelesen werden: {exc}.</translation>
    </message>
    <message>
        <source>The local server cannot listen.</source>
        <translation>Der lokale Server kann keine Verbindungen annehmen.</translation>
    </message>
    <message>
        <source>The log file has the details.</source>
        <translation>Einzelheiten stehen in der Protokolldatei.</translation>
    </message>
    <message>
        <source>The mailbox has none of the chosen folders.</source>
        <translation>Das Postfach hat keinen der gewählten Ordner.</translation>
    </message>
    <message>
        <source>The message is encrypted or sealed, which is not undone.</source>
        <translation>Die Nachricht ist verschlüsselt oder versiegelt, was nicht aufgehoben wird.</translation>
    </message>
    <message>
        <source>The message is nested too deep</source>
        <translation>Die Nachricht ist zu tief verschachtelt</translation>
    </message>
    <message>
        <source>The model gave no answer.</source>
        <translation>Das Modell gab keine Antwort.</translation>
    </message>
    <message>
        <source>The model has to give times: whisper-1 does, for example.</source>
        <translation>Das Modell muss Zeiten angeben: whisper-1 zum Beispiel tut das.</translation>
    </message>
    <message>
        <source>The model may still be loading: press Retry, or allow more time in Settings.</source>
        <translation>Das Modell lädt vielleicht noch: Drücken Sie „Erneut versuchen“, oder geben Sie in den Einstellungen mehr Zeit.</translation>
    </message>
    <message>
        <source>The model reads the prompt: {percent} %, about {left_s} s left.</source>
        <translation>Das Modell liest den Prompt: {percent} %, noch etwa {left_s} s.</translation>
    </message>
    <message>
        <source>The model reads the prompt: {percent} %.</source>
        <translation>Das Modell liest den Prompt: {percent} %.</translation>
    </message>
    <message>
        <source>The model repeats itself.</source>
        <translation>Das Modell wiederholt sich.</translation>
    </message>
    <message>
        <source>The model took too long.</source>
        <translation>Das Modell brauchte zu lange.</translation>
    </message>
    <message>
        <source>The name is too long.</source>
        <translation>Der Name ist zu lang.</translation>
    </message>
    <message>
        <source>The next round fetches it again.</source>
        <translation>Der nächste Durchgang ruft sie erneut ab.</translation>
    </message>
    <message>
        <source>The note could not be written.</source>
        <translation>Die Notiz konnte nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>The note was changed meanwhile.</source>
        <translation>Die Notiz wurde inzwischen geändert.</translation>
    </message>
    <message>
        <source>The page asks programs not to keep it (noindex).</source>
        <translation>Die Seite bittet Programme, sie nicht aufzubewahren (noindex).</translation>
    </message>
    <message>
        <source>The page cannot be drawn.</source>
        <translation>Die Seite kann nicht gezeichnet werden.</translation>
    </message>
    <message>
        <source>The page comes packed in a way that was not asked for.</source>
        <translation>Die Seite kommt gepackt auf eine Weise, die nicht verlangt war.</translation>
    </message>
    <message>
        <source>The page comes packed, and the packing is damaged.</source>
        <translation>Die Seite kommt gepackt, und die Packung ist beschädigt.</translation>
    </message>
    <message>
        <source>The page is empty.</source>
        <translation>Die Seite ist leer.</translation>
    </message>
    <message>
        <source>The page is larger than {max_bytes}.</source>
        <translation>Die Seite ist größer als {max_bytes}.</translation>
    </message>
    <message>
        <source>The page leads out of the part that is read.</source>
        <translation>Die Seite führt aus dem Teil heraus, der gelesen wird.</translation>
    </message>
    <message>
        <source>The page was cut off on its way.</source>
        <translation>Die Seite wurde unterwegs abgeschnitten.</translation>
    </message>
    <message>
        <source>The parser process has no network, starts no program and opens no other file.</source>
        <translation>Der Leseprozess hat kein Netz, startet kein Programm und öffnet keine andere Datei.</translation>
    </message>
    <message>
        <source>The parser process has no network, starts no program and writes no file.</source>
        <translation>Der Leseprozess hat kein Netz, startet kein Programm und schreibt keine Datei.</translation>
    </message>
    <message>
        <source>The parser process opens no other file, but could reach the network.</source>
        <translation>Der Leseprozess öffnet keine andere Datei, könnte aber das Netz erreichen.</translation>
    </message>
    <message>
        <source>The parser process starts no program.</source>
        <translation>Der Leseprozess startet kein Programm.</translation>
    </message>
    <message>
        <source>The part of the app that runs models is not installed.</source>
        <translation>Der Teil der App, der Modelle ausführt, ist nicht installiert.</translation>
    </message>
    <message>
        <source>The passages don&apos;t answer it. Reading the whole text…</source>
        <translation>Die Textstellen beantworten es nicht. Der ganze Text wird gelesen…</translation>
    </message>
    <message>
        <source>The password could not be forgotten.</source>
        <translation>Das Passwort konnte nicht vergessen werden.</translation>
    </message>
    <message>
        <source>The password could not be remembered.</source>
        <translation>Das Passwort konnte nicht gemerkt werden.</translation>
    </message>
    <message>
        <source>The password is forgotten when the app ends.</source>
        <translation>Das Passwort wird vergessen, wenn die App beendet wird.</translation>
    </message>
    <message>
        <source>The password is not sent there. Add the folder by the address it has there.</source>
        <translation>Dorthin wird das Passwort nicht gesendet. Fügen Sie den Ordner mit der Adresse hinzu, die er dort hat.</translation>
    </message>
    <message>
        <source>The password would go over the internet unencrypted.</source>
        <translation>Das Passwort würde unverschlüsselt durch das Internet gehen.</translation>
    </message>
    <message>
        <source>The password would go over the network unencrypted.</source>
        <translation>Das Passwort ginge unverschlüsselt über das Netz.</translation>
    </message>
    <message>
        <source>The picture is too large</source>
        <translation>Das Bild ist zu groß</translation>
    </message>
    <message>
        <source>The program has no name that can be shown.</source>
        <translation>Das Programm hat keinen Namen, der sich anzeigen lässt.</translation>
    </message>
    <message>
        <source>The program that runs models can&apos;t be started.</source>
        <translation>Das Programm, das Modelle ausführt, kann nicht gestartet werden.</translation>
    </message>
    <message>
        <source>The prompt could not be deleted.</source>
        <translation>Die Vorlage konnte nicht gelöscht werden.</translation>
    </message>
    <message>
        <source>The prompt could not be kept.</source>
        <translation>Die Vorlage konnte nicht aufbewahrt werden.</translation>
    </message>
    <message>
        <source>The prompt is too long.</source>
        <translation>Die Vorlage ist zu lang.</translation>
    </message>
    <message>
        <source>The provider lets nobody in: {fault}</source>
        <translation>Der Anbieter lässt niemanden hinein: {fault}</translation>
    </message>
    <message>
        <source>The provider of logins can&apos;t be used now: {why}.</source>
        <translation>Der Anbieter der Anmeldung kann jetzt nicht benutzt werden: {why}.</translation>
    </message>
    <message>
        <source>The proxy of this computer cannot be used.</source>
        <translation>Der Proxy dieses Computers kann nicht benutzt werden.</translation>
    </message>
    <message>
        <source>The proxy of this computer did not let the request through.</source>
        <translation>Der Proxy dieses Computers ließ die Anfrage nicht durch.</translation>
    </message>
    <message>
        <source>The query can&apos;t be run.</source>
        <translation>Die Abfrage kann nicht ausgeführt werden.</translation>
    </message>
    <message>
        <source>The question is too long.</source>
        <translation>Die Frage ist zu lang.</translation>
    </message>
    <message>
        <source>The question with its sources is more than the endpoint takes in a minute.</source>
        <translation>Die Frage mit ihren Quellen ist mehr, als der Endpunkt in einer Minute annimmt.</translation>
    </message>
    <message>
        <source>The question with its sources is too long for the model.</source>
        <translation>Die Frage mit ihren Quellen ist zu lang für das Modell.</translation>
    </message>
    <message>
        <source>The rails in {folder} can&apos;t be read.</source>
        <translation>Die Leitplanken in {folder} können nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The recorded activity could not be deleted.</source>
        <translation>Die aufgezeichneten Aktivitäten konnten nicht gelöscht werden.</translation>
    </message>
    <message>
        <source>The recording is too large for the transcription server</source>
        <translation>Die Aufnahme ist zu groß für den Transkriptionsserver</translation>
    </message>
    <message>
        <source>The repair could not be arranged.</source>
        <translation>Die Reparatur konnte nicht vorgemerkt werden.</translation>
    </message>
    <message>
        <source>The replica is away: searches read from the primary.</source>
        <translation>Die Replik ist nicht erreichbar: Suchen lesen vom Hauptserver.</translation>
    </message>
    <message>
        <source>The replica is {bytes_behind} behind.</source>
        <translation>Die Replik liegt {bytes_behind} zurück.</translation>
    </message>
    <message>
        <source>The request is too large for the endpoint.</source>
        <translation>Die Anfrage ist zu groß für den Endpunkt.</translation>
    </message>
    <message>
        <source>The running app did not answer.</source>
        <translation>Die laufende App hat nicht geantwortet.</translation>
    </message>
    <message>
        <source>The server does not let this user read it ({status}).</source>
        <translation>Der Server lässt diesen Benutzer sie nicht lesen ({status}).</translation>
    </message>
    <message>
        <source>The server does not let this user read the folder.</source>
        <translation>Der Server lässt diesen Benutzer den Ordner nicht lesen.</translation>
    </message>
    <message>
        <source>The server does not record how long statements take.</source>
        <translation>Der Server zeichnet nicht auf, wie lange Anweisungen dauern.</translation>
    </message>
    <message>
        <source>The server does not say what it is.</source>
        <translation>Der Server sagt nicht, was es ist.</translation>
    </message>
    <message>
        <source>The server failed ({status}).</source>
        <translation>Der Server meldet einen Fehler ({status}).</translation>
    </message>
    <message>
        <source>The server is ending.</source>
        <translation>Der Server wird beendet.</translation>
    </message>
    <message>
        <source>The server refused the password.</source>
        <translation>Der Server hat das Passwort abgelehnt.</translation>
    </message>
    <message>
        <source>The server refused to read it ({verb}).</source>
        <translation>Der Server verweigert das Lesen ({verb}).</translation>
    </message>
    <message>
        <source>The server sends on from address to address.</source>
        <translation>Der Server verweist endlos von Adresse zu Adresse.</translation>
    </message>
    <message>
        <source>The server sends on to {target}.</source>
        <translation>Der Server verweist weiter an {target}.</translation>
    </message>
    <message>
        <source>The server sent nothing.</source>
        <translation>Der Server hat nichts gesendet.</translation>
    </message>
    <message>
        <source>The server starts without asking for one: choose a key without a password.</source>
        <translation>Der Server startet, ohne danach zu fragen: Wählen Sie einen Schlüssel ohne Passwort.</translation>
    </message>
    <message>
        <source>The server takes no passwords.</source>
        <translation>Der Server nimmt keine Passwörter an.</translation>
    </message>
    <message>
        <source>The server transcribes.</source>
        <translation>Der Server transkribiert.</translation>
    </message>
    <message>
        <source>The set has no name.</source>
        <translation>Die Fragensammlung hat keinen Namen.</translation>
    </message>
    <message>
        <source>The set is too large.</source>
        <translation>Die Fragensammlung ist zu groß.</translation>
    </message>
    <message>
        <source>The settings as last saved before are used.</source>
        <translation>Es gelten die zuvor gespeicherten Einstellungen.</translation>
    </message>
    <message>
        <source>The settings can be read.</source>
        <translation>Die Einstellungen können gelesen werden.</translation>
    </message>
    <message>
        <source>The settings could not be saved.</source>
        <translation>Die Einstellungen konnten nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>The settings file cannot be read.</source>
        <translation>Die Einstellungsdatei kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The sheet {name} can&apos;t be read.</source>
        <translation>Das Blatt {name} kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>The site asks programs not to read this page (robots.txt).</source>
        <translation>Die Website bittet Programme, diese Seite nicht zu lesen (robots.txt).</translation>
    </message>
    <message>
        <source>The site asks to come back later ({status}).</source>
        <translation>Die Website bittet darum, später wiederzukommen ({status}).</translation>
    </message>
    <message>
        <source>The site did not send the page ({status}).</source>
        <translation>Die Website hat die Seite nicht gesendet ({status}).</translation>
    </message>
    <message>
        <source>The site does not show this page to everybody ({status}).</source>
        <translation>Die Website zeigt diese Seite nicht jedem ({status}).</translation>
    </message>
    <message>
        <source>The site failed to say what may be read ({status} for robots.txt).</source>
        <translation>Die Website konnte nicht sagen, was gelesen werden darf ({status} für robots.txt).</translation>
    </message>
    <message>
        <source>The site failed to send the page ({status}).</source>
        <translation>Die Website konnte die Seite nicht senden ({status}).</translation>
    </message>
    <message>
        <source>The sitemap can&apos;t be read: {exc}.</source>
        <translation>Die Sitemap kann nicht gelesen werden: {exc}.</translation>
    </message>
    <message>
        <source>The slowest of {searched:,} searches in 24 hours: {listed}.</source>
        <translation>Die langsamsten von {searched:,} Suchen in 24 Stunden: {listed}.</translation>
    </message>
    <message>
        <source>The snapshot of {day} was passed over.</source>
        <translation>Der Sicherungsstand vom {day} wurde übergangen.</translation>
    </message>
    <message>
        <source>The source has these words, but not together.</source>
        <translation>Die Quelle enthält diese Wörter, aber nicht beieinander.</translation>
    </message>
    <message>
        <source>The source says something near to this.</source>
        <translation>Die Quelle sagt etwas Ähnliches.</translation>
    </message>
    <message>
        <source>The source says this, word for word.</source>
        <translation>Die Quelle sagt das wörtlich.</translation>
    </message>
    <message>
        <source>The source says this.</source>
        <translation>Die Quelle sagt das.</translation>
    </message>
    <message>
        <source>The source says {written}, the answer {said}.</source>
        <translation>Die Quelle sagt {written}, die Antwort {said}.</translation>
    </message>
    <message>
        <source>The source says “{written}”, the answer doesn&apos;t.</source>
        <translation>Die Quelle sagt „{written}“, die Antwort nicht.</translation>
    </message>
    <message>
        <source>The statements that take longest on average: {listed}.</source>
        <translation>Die Anweisungen, die im Mittel am längsten dauern: {listed}.</translation>
    </message>
    <message>
        <source>The system ({platform}) does not confine the parser process.</source>
        <translation>Das System ({platform}) schränkt den Leseprozess nicht ein.</translation>
    </message>
    <message>
        <source>The system cannot watch any more folders for changes.</source>
        <translation>Das System kann keine weiteren Ordner auf Änderungen überwachen.</translation>
    </message>
    <message>
        <source>The system does not let the app listen on port {port}.</source>
        <translation>Das System lässt die App nicht auf Port {port} antworten.</translation>
    </message>
    <message>
        <source>The system does not tell its limits.</source>
        <translation>Das System nennt seine Grenzen nicht.</translation>
    </message>
    <message>
        <source>The table has {written} there, the answer says {said}.</source>
        <translation>Die Tabelle hat dort {written}, die Antwort sagt {said}.</translation>
    </message>
    <message>
        <source>The table of the source has this there.</source>
        <translation>Die Tabelle der Quelle hat das an dieser Stelle.</translation>
    </message>
    <message>
        <source>The terminal can&apos;t be read or written.</source>
        <translation>Das Terminal kann nicht gelesen oder beschrieben werden.</translation>
    </message>
    <message>
        <source>The text of all documents is sent to an endpoint; its key is the one entered for its address as the chat&apos;s endpoint.</source>
        <translation>Der Text aller Dokumente wird an einen Endpunkt gesendet; sein Schlüssel ist der, der für dessen Adresse als Endpunkt des Chats eingegeben wurde.</translation>
    </message>
    <message>
        <source>The texts of pictures can&apos;t be kept.</source>
        <translation>Die Texte der Bilder lassen sich nicht aufbewahren.</translation>
    </message>
    <message>
        <source>The token has no name.</source>
        <translation>Das Token hat keinen Namen.</translation>
    </message>
    <message>
        <source>The topic is too long.</source>
        <translation>Das Thema ist zu lang.</translation>
    </message>
    <message>
        <source>The transcription server did not take the recording: {title}</source>
        <translation>Der Transkriptionsserver hat die Aufnahme nicht angenommen: {title}</translation>
    </message>
    <message>
        <source>The user guide shows how to add “Ask desktop-rag about this” to Finder.</source>
        <translation>Das Benutzerhandbuch zeigt, wie „Ask desktop-rag about this“ in den Finder kommt.</translation>
    </message>
    <message>
        <source>The vectors of model {number} have other columns.</source>
        <translation>Die Vektoren von Modell {number} haben andere Spalten.</translation>
    </message>
    <message>
        <source>The window needs {missing}, which this system lacks.</source>
        <translation>Das Fenster braucht {missing}; auf diesem System fehlt das.</translation>
    </message>
    <message>
        <source>The window of the app imports chats and settings without the index.</source>
        <translation>Das Fenster der App importiert Chats und Einstellungen ohne den Index.</translation>
    </message>
    <message>
        <source>There are more folders than the {most:,} that the system watches.</source>
        <translation>Es gibt mehr Ordner als die {most:,}, die das System überwacht.</translation>
    </message>
    <message>
        <source>There are more.</source>
        <translation>Es gibt mehr.</translation>
    </message>
    <message>
        <source>There are more. A higher limit, in the options of the link, has them all.</source>
        <translation>Es gibt mehr. Mit einer höheren Grenze in den Optionen des Links sind es alle.</translation>
    </message>
    <message>
        <source>There are no rails “{rails}”.</source>
        <translation>Leitplanken „{rails}“ gibt es nicht.</translation>
    </message>
    <message>
        <source>There are no tokens yet.</source>
        <translation>Es gibt noch keine Token.</translation>
    </message>
    <message>
        <source>There are rails with the name “{plain}”.</source>
        <translation>Es gibt schon Leitplanken mit dem Namen „{plain}“.</translation>
    </message>
    <message>
        <source>There are so few vectors that comparing all of them is as fast.</source>
        <translation>Es gibt so wenige Vektoren, dass es ebenso schnell ist, alle zu vergleichen.</translation>
    </message>
    <message>
        <source>There are {names}.</source>
        <translation>Es gibt {names}.</translation>
    </message>
    <message>
        <source>There are: {known}.</source>
        <translation>Es gibt: {known}.</translation>
    </message>
    <message>
        <source>There are: {names}, or a folder&apos;s path.</source>
        <translation>Es gibt: {names}, oder den Pfad eines Ordners.</translation>
    </message>
    <message>
        <source>There are: {names}.</source>
        <translation>Es gibt: {names}.</translation>
    </message>
    <message>
        <source>There is a prompt /{name} already.</source>
        <translation>Eine Vorlage /{name} gibt es schon.</translation>
    </message>
    <message>
        <source>There is a token “{name}” already.</source>
        <translation>Ein Token „{name}“ gibt es schon.</translation>
    </message>
    <message>
        <source>There is another assistant called “{name}”.</source>
        <translation>Ein anderer Assistent heißt schon „{name}“.</translation>
    </message>
    <message>
        <source>There is another set called “{name}”.</source>
        <translation>Eine andere Fragensammlung heißt schon „{name}“.</translation>
    </message>
    <message>
        <source>There is more than one scheduled question “{name}”.</source>
        <translation>Es gibt mehr als eine geplante Frage „{name}“.</translation>
    </message>
    <message>
        <source>There is no WebDAV folder at this address.</source>
        <translation>Unter dieser Adresse gibt es keinen WebDAV-Ordner.</translation>
    </message>
    <message>
        <source>There is no address to fetch.</source>
        <translation>Es gibt keine Adresse, die abzurufen wäre.</translation>
    </message>
    <message>
        <source>There is no assistant “{name}”.</source>
        <translation>Einen Assistenten „{name}“ gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no certificate in {name}.</source>
        <translation>In {name} ist kein Zertifikat.</translation>
    </message>
    <message>
        <source>There is no collection “{name}”.</source>
        <translation>Eine Sammlung „{name}“ gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no key in {name}.</source>
        <translation>In {name} ist kein Schlüssel.</translation>
    </message>
    <message>
        <source>There is no library yet.</source>
        <translation>Es gibt noch keine Bibliothek.</translation>
    </message>
    <message>
        <source>There is no model that can see the image.</source>
        <translation>Es gibt kein Modell, das das Bild sehen kann.</translation>
    </message>
    <message>
        <source>There is no model “{name}” on this computer.</source>
        <translation>Auf diesem Computer gibt es kein Modell „{name}“.</translation>
    </message>
    <message>
        <source>There is no model “{name}”.</source>
        <translation>Es gibt kein Modell „{name}“.</translation>
    </message>
    <message>
        <source>There is no other collection.</source>
        <translation>Es gibt keine andere Sammlung.</translation>
    </message>
    <message>
        <source>There is no page at this address ({status}).</source>
        <translation>Unter dieser Adresse gibt es keine Seite ({status}).</translation>
    </message>
    <message>
        <source>There is no page {page}</source>
        <translation>Seite {page} gibt es nicht</translation>
    </message>
    <message>
        <source>There is no prompt.</source>
        <translation>Die Vorlage ist leer.</translation>
    </message>
    <message>
        <source>There is no question to answer again.</source>
        <translation>Es gibt keine Frage, die noch einmal zu beantworten wäre.</translation>
    </message>
    <message>
        <source>There is no question.</source>
        <translation>Es gibt keine Frage.</translation>
    </message>
    <message>
        <source>There is no scheduled question “{name}”.</source>
        <translation>Eine geplante Frage „{name}“ gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no searchable document to ask about.</source>
        <translation>Es gibt kein durchsuchbares Dokument, nach dem gefragt werden kann.</translation>
    </message>
    <message>
        <source>There is no set of questions “{name}”.</source>
        <translation>Eine Fragensammlung „{name}“ gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no setting “{key}”.</source>
        <translation>Es gibt keine Einstellung „{key}“.</translation>
    </message>
    <message>
        <source>There is no single model “{name}” on this computer.</source>
        <translation>Auf diesem Computer gibt es nicht genau ein Modell „{name}“.</translation>
    </message>
    <message>
        <source>There is no single model “{name}” to fetch.</source>
        <translation>Es gibt nicht genau ein Modell „{name}“ zum Herunterladen.</translation>
    </message>
    <message>
        <source>There is no snapshot “{wanted}”.</source>
        <translation>Einen Sicherungsstand „{wanted}“ gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no source to check it against.</source>
        <translation>Es gibt keine Quelle, an der es sich prüfen ließe.</translation>
    </message>
    <message>
        <source>There is no store engine “{name}”.</source>
        <translation>Eine Datenbank „{name}“ gibt es hier nicht.</translation>
    </message>
    <message>
        <source>There is no such collection.</source>
        <translation>Diese Sammlung gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no such document.</source>
        <translation>Dieses Dokument gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no such folder</source>
        <translation>Einen solchen Ordner gibt es nicht</translation>
    </message>
    <message>
        <source>There is no such project at this address.</source>
        <translation>Unter dieser Adresse gibt es kein solches Projekt.</translation>
    </message>
    <message>
        <source>There is no token “{name}”.</source>
        <translation>Ein Token „{name}“ gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no topic.</source>
        <translation>Das Thema fehlt.</translation>
    </message>
    <message>
        <source>There is none in the picture.</source>
        <translation>Im Bild ist keiner.</translation>
    </message>
    <message>
        <source>There is none in the pictures on its pages either.</source>
        <translation>Auch in den Bildern auf ihren Seiten ist keiner.</translation>
    </message>
    <message>
        <source>There is nothing to record in a journal yet.</source>
        <translation>Es gibt noch nichts, was in ein Journal gehört.</translation>
    </message>
    <message>
        <source>There was nothing to repair.</source>
        <translation>Es gab nichts zu reparieren.</translation>
    </message>
    <message>
        <source>These links are in the library already.</source>
        <translation>Diese Links sind schon in der Bibliothek.</translation>
    </message>
    <message>
        <source>These rails are in several files, of which none is topics.co.</source>
        <translation>Diese Leitplanken stehen in mehreren Dateien, von denen keine topics.co ist.</translation>
    </message>
    <message>
        <source>They are kept beside the new ones: {str}.</source>
        <translation>Sie liegen neben den neuen: {str}.</translation>
    </message>
    <message>
        <source>They are more than topics with examples: change their files in an editor.</source>
        <translation>Sie sind mehr als Themen mit Beispielen: Ändern Sie ihre Dateien in einem Editor.</translation>
    </message>
    <message>
        <source>They were not read.</source>
        <translation>Sie wurden nicht gelesen.</translation>
    </message>
    <message>
        <source>Thinks aloud in &lt;think&gt; tags: kept apart from the answer.</source>
        <translation>Denkt laut in &lt;think&gt;-Tags: wird von der Antwort getrennt.</translation>
    </message>
    <message>
        <source>Thinks aloud in a field of its own: kept apart from the answer.</source>
        <translation>Denkt laut in einem eigenen Feld: wird von der Antwort getrennt.</translation>
    </message>
    <message>
        <source>Thinks aloud up to &lt;/think&gt;: kept apart from the answer.</source>
        <translation>Denkt laut bis &lt;/think&gt;: wird von der Antwort getrennt.</translation>
    </message>
    <message>
        <source>This app has no part that does.</source>
        <translation>Diese App hat keinen Teil dafür.</translation>
    </message>
    <message>
        <source>This computer has no keyring that can be used.</source>
        <translation>Dieser Rechner hat keinen nutzbaren Schlüsselbund.</translation>
    </message>
    <message>
        <source>This database belongs to another program.</source>
        <translation>Diese Datenbank gehört einem anderen Programm.</translation>
    </message>
    <message>
        <source>This desktop lets an app ask for hotkeys (portal version {version}).</source>
        <translation>Auf diesem Desktop kann eine App um Tasten bitten (Portal-Version {version}).</translation>
    </message>
    <message>
        <source>This desktop lets no app register hotkeys.</source>
        <translation>Auf diesem Desktop kann keine App Tasten belegen.</translation>
    </message>
    <message>
        <source>This desktop offers a system tray.</source>
        <translation>Dieser Desktop hat einen Infobereich.</translation>
    </message>
    <message>
        <source>This desktop offers no hotkeys to programs.</source>
        <translation>Dieser Desktop bietet Programmen keine Tasten an.</translation>
    </message>
    <message>
        <source>This desktop offers no system tray.</source>
        <translation>Dieser Desktop hat keinen Infobereich.</translation>
    </message>
    <message>
        <source>This desktop refused a hotkey. It may want the app installed with its desktop file.</source>
        <translation>Dieser Desktop hat eine Taste abgelehnt. Vielleicht muss dafür die Desktop-Datei der App installiert sein.</translation>
    </message>
    <message>
        <source>This desktop&apos;s portal for hotkeys did not answer as it should.</source>
        <translation>Das Portal dieses Desktops für Tasten hat nicht geantwortet, wie es sollte.</translation>
    </message>
    <message>
        <source>This endpoint does not stream: the answer appears once it is complete.</source>
        <translation>Dieser Endpunkt antwortet nicht Stück für Stück: Die Antwort erscheint, wenn sie vollständig ist.</translation>
    </message>
    <message>
        <source>This is no time of the week.</source>
        <translation>Das ist kein Zeitpunkt in der Woche.</translation>
    </message>
    <message>
        <source>This is not for the users of another application.</source>
        <translation>Das ist nicht für die Benutzer einer anderen Anwendung.</translation>
    </message>
    <message>
        <source>This is not the address of a web page.</source>
        <translation>Das ist keine Adresse einer Webseite.</translation>
    </message>
    <message>
        <source>This is the address of Google&apos;s own API.</source>
        <translation>Das ist die Adresse der eigenen API von Google.</translation>
    </message>
    <message>
        <source>This kernel accepts no seccomp filter.</source>
        <translation>Dieser Kernel nimmt keinen seccomp-Filter an.</translation>
    </message>
    <message>
        <source>This keyboard has no such key.</source>
        <translation>Diese Tastatur hat keine solche Taste.</translation>
    </message>
    <message>
        <source>This link is not one of desktop-rag.</source>
        <translation>Dieser Link gehört nicht zu desktop-rag.</translation>
    </message>
    <message>
        <source>This login was not begun here, or too long ago. Log in again.</source>
        <translation>Diese Anmeldung wurde nicht hier begonnen oder vor zu langer Zeit. Melden Sie sich noch einmal an.</translation>
    </message>
    <message>
        <source>This name can&apos;t be used.</source>
        <translation>Dieser Name ist nicht möglich.</translation>
    </message>
    <message>
        <source>This part of the app runs no models.</source>
        <translation>Dieser Teil der App führt keine Modelle aus.</translation>
    </message>
    <message>
        <source>This passes by itself. Wait {wait}, then press Retry.</source>
        <translation>Das geht von selbst vorbei. Warten Sie {wait}, und drücken Sie dann „Erneut versuchen“.</translation>
    </message>
    <message>
        <source>This password does not open the file.</source>
        <translation>Dieses Passwort öffnet die Datei nicht.</translation>
    </message>
    <message>
        <source>This set of questions is gone.</source>
        <translation>Diese Fragensammlung gibt es nicht mehr.</translation>
    </message>
    <message>
        <source>This system has a tray.</source>
        <translation>Dieses System hat einen Infobereich.</translation>
    </message>
    <message>
        <source>This system has no limit for watching folders.</source>
        <translation>Dieses System hat keine Grenze für überwachte Ordner.</translation>
    </message>
    <message>
        <source>This system lets an app register hotkeys.</source>
        <translation>Auf diesem System kann eine App Tasten belegen.</translation>
    </message>
    <message>
        <source>This system offers no keyring: a key is kept until the app ends.</source>
        <translation>Dieses System bietet keinen Schlüsselbund: Ein Schlüssel bleibt, bis die App beendet wird.</translation>
    </message>
    <message>
        <source>This token does not allow “{scope}”.</source>
        <translation>Dieses Token erlaubt „{scope}“ nicht.</translation>
    </message>
    <message>
        <source>This token is for some collections only.</source>
        <translation>Dieses Token gilt nur für einige Sammlungen.</translation>
    </message>
    <message>
        <source>This token is not for this origin.</source>
        <translation>Dieses Token ist nicht für diese Herkunft.</translation>
    </message>
    <message>
        <source>This token may not read these documents.</source>
        <translation>Dieses Token darf diese Dokumente nicht lesen.</translation>
    </message>
    <message>
        <source>This workbook can&apos;t be read</source>
        <translation>Diese Arbeitsmappe kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>To have them read,</source>
        <translation>Damit sie gelesen werden,</translation>
    </message>
    <message>
        <source>To have them read, switch on “Read text in scanned pages and images” in the settings.</source>
        <translation>Damit sie gelesen werden, schalten Sie in den Einstellungen „Text in gescannten Seiten und Bildern lesen“ ein.</translation>
    </message>
    <message>
        <source>Too many answers are under way.</source>
        <translation>Zu viele Antworten sind unterwegs.</translation>
    </message>
    <message>
        <source>Too many files are open.</source>
        <translation>Zu viele Dateien sind geöffnet.</translation>
    </message>
    <message>
        <source>Too many open files</source>
        <translation>Zu viele offene Dateien</translation>
    </message>
    <message>
        <source>Too many requests. Try again in {seconds} seconds.</source>
        <translation>Zu viele Anfragen. In {seconds} Sekunden noch einmal versuchen.</translation>
    </message>
    <message>
        <source>Too many single files are excluded.</source>
        <translation>Zu viele einzelne Dateien sind ausgeschlossen.</translation>
    </message>
    <message>
        <source>Too old: {kind}</source>
        <translation>Zu alt: {kind}</translation>
    </message>
    <message>
        <source>Transcription: {title}</source>
        <translation>Transkription: {title}</translation>
    </message>
    <message>
        <source>Try again in a while.</source>
        <translation>Versuchen Sie es später noch einmal.</translation>
    </message>
    <message>
        <source>Try again later.</source>
        <translation>Versuchen Sie es später.</translation>
    </message>
    <message>
        <source>Try again, and check the disk.</source>
        <translation>Versuchen Sie es noch einmal, und prüfen Sie den Datenträger.</translation>
    </message>
    <message>
        <source>Try again.</source>
        <translation>Versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Try it again.</source>
        <translation>Versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Unlock or install a keyring, or set DESKTOP_RAG_API_KEY before starting the app.</source>
        <translation>Entsperren oder installieren Sie einen Schlüsselbund, oder setzen Sie vor dem Start der App DESKTOP_RAG_API_KEY.</translation>
    </message>
    <message>
        <source>Unpacked it grows more than {max_ratio} times.</source>
        <translation>Entpackt wächst sie auf mehr als das {max_ratio}-Fache.</translation>
    </message>
    <message>
        <source>Unpacked it is larger than 500 MB.</source>
        <translation>Entpackt ist sie größer als 500 MB.</translation>
    </message>
    <message>
        <source>Unpacking the index</source>
        <translation>Der Index wird entpackt</translation>
    </message>
    <message>
        <source>Until then the library can be read, and new answers are not stored.</source>
        <translation>Bis dahin kann die Bibliothek gelesen werden, und neue Antworten werden nicht gespeichert.</translation>
    </message>
    <message>
        <source>Update the app.</source>
        <translation>Aktualisieren Sie die App.</translation>
    </message>
    <message>
        <source>Update this app, or start it again.</source>
        <translation>Aktualisieren Sie diese App, oder starten Sie sie neu.</translation>
    </message>
    <message>
        <source>Use another host.</source>
        <translation>Benutzen Sie einen anderen Host.</translation>
    </message>
    <message>
        <source>Use the words of your documents, or write about all documents.</source>
        <translation>Verwenden Sie die Wörter Ihrer Dokumente, oder schreiben Sie über alle Dokumente.</translation>
    </message>
    <message>
        <source>Vectors of two models are never mixed. Restart the app to embed everything again.</source>
        <translation>Vektoren zweier Modelle werden nie gemischt. Starten Sie die App neu, um alles neu einzubetten.</translation>
    </message>
    <message>
        <source>Wait a little, then press Retry.</source>
        <translation>Warten Sie ein wenig, und drücken Sie dann „Erneut versuchen“.</translation>
    </message>
    <message>
        <source>Wait {wait_s} seconds, then press Retry, or raise it in Settings.</source>
        <translation>Warten Sie {wait_s} Sekunden, und drücken Sie dann „Erneut versuchen“, oder erhöhen Sie sie in den Einstellungen.</translation>
    </message>
    <message>
        <source>Waits to be transcribed.</source>
        <translation>Wartet darauf, transkribiert zu werden.</translation>
    </message>
    <message>
        <source>Wants question and answer in turn: turns are joined.</source>
        <translation>Verlangt Frage und Antwort im Wechsel: Beiträge werden zusammengefasst.</translation>
    </message>
    <message>
        <source>What it takes from other files is left out.</source>
        <translation>Was sie aus anderen Dateien holt, bleibt weg.</translation>
    </message>
    <message>
        <source>What this user may read can&apos;t be found out now.</source>
        <translation>Was dieser Benutzer lesen darf, lässt sich gerade nicht feststellen.</translation>
    </message>
    <message>
        <source>What waits is in the library and will be read when it goes on.</source>
        <translation>Was wartet, ist in der Bibliothek und wird gelesen, wenn es weitergeht.</translation>
    </message>
    <message>
        <source>What was read before stays searchable.</source>
        <translation>Was zuvor gelesen wurde, bleibt durchsuchbar.</translation>
    </message>
    <message>
        <source>Whoever runs the server restores it from a backup of the server.</source>
        <translation>Der Betreiber des Servers stellt sie aus einer Sicherung des Servers wieder her.</translation>
    </message>
    <message>
        <source>Windows does not keep it from the network or from other files of yours.</source>
        <translation>Windows hält ihn weder vom Netz noch von anderen Ihrer Dateien fern.</translation>
    </message>
    <message>
        <source>Windows keeps the files of a user from other users by itself.</source>
        <translation>Windows schützt die Dateien eines Benutzers selbst vor anderen Benutzern.</translation>
    </message>
    <message>
        <source>Without documents, only a model can answer.</source>
        <translation>Ohne Dokumente kann nur ein Modell antworten.</translation>
    </message>
    <message>
        <source>Without it the file can&apos;t be checked. Use another host, or add a file of yours.</source>
        <translation>Ohne sie kann die Datei nicht geprüft werden. Benutzen Sie einen anderen Host, oder fügen Sie eine eigene Datei hinzu.</translation>
    </message>
    <message>
        <source>Word before version 6</source>
        <translation>Word vor Version 6</translation>
    </message>
    <message>
        <source>WordPerfect</source>
        <translation>WordPerfect</translation>
    </message>
    <message>
        <source>Words are searched meanwhile. Embedding goes on by itself once it is possible.</source>
        <translation>Solange wird nach Wörtern gesucht. Das Einbetten geht von selbst weiter, sobald es möglich ist.</translation>
    </message>
    <message>
        <source>Words are still searched. Install the app again, or choose another model folder.</source>
        <translation>Nach Wörtern wird weiter gesucht. Installieren Sie die App noch einmal, oder wählen Sie einen anderen Modellordner.</translation>
    </message>
    <message>
        <source>Words were searched.</source>
        <translation>Gesucht wurde nach Wörtern.</translation>
    </message>
    <message>
        <source>Write it as {key}:2024, {key}:2024-05 or {key}:2024-05-31.</source>
        <translation>Schreiben Sie {key}:2024, {key}:2024-05 oder {key}:2024-05-31.</translation>
    </message>
    <message>
        <source>Write it like /guide/.</source>
        <translation>Schreiben Sie ihn wie /guide/.</translation>
    </message>
    <message>
        <source>Write it like https://example.org/guide, one a line.</source>
        <translation>Schreiben Sie sie wie https://example.org/guide, eine je Zeile.</translation>
    </message>
    <message>
        <source>Write it like https://example.org/guide/.</source>
        <translation>Schreiben Sie sie wie https://example.org/guide/.</translation>
    </message>
    <message>
        <source>Write its address with http:// in Settings, if it is on a network you trust.</source>
        <translation>Schreiben Sie seine Adresse in den Einstellungen mit http://, wenn er in einem Netz ist, dem Sie vertrauen.</translation>
    </message>
    <message>
        <source>Write its host as a name, or as four numbers between dots.</source>
        <translation>Schreiben Sie den Rechner als Namen oder als vier Zahlen mit Punkten dazwischen.</translation>
    </message>
    <message>
        <source>Write its whole path, as ~/Documents.</source>
        <translation>Schreiben Sie den ganzen Pfad, etwa ~/Dokumente.</translation>
    </message>
    <message>
        <source>Write one a line: wiki.example, wiki.example:8080, wiki.example 10.1.0.0/16, or 10.1.0.0/16.</source>
        <translation>Schreiben Sie einen je Zeile: wiki.example, wiki.example:8080, wiki.example 10.1.0.0/16 oder 10.1.0.0/16.</translation>
    </message>
    <message>
        <source>Write one address.</source>
        <translation>Schreiben Sie eine Adresse.</translation>
    </message>
    <message>
        <source>Write one first.</source>
        <translation>Schreiben Sie zuerst eine.</translation>
    </message>
    <message>
        <source>Write one: desktop-rag note write TOPIC</source>
        <translation>Schreiben Sie eine: desktop-rag note write THEMA</translation>
    </message>
    <message>
        <source>Write several answers of a cell with | and no spaces around it.</source>
        <translation>Trennen Sie mehrere Antworten in einer Zelle mit | und ohne Leerzeichen darum.</translation>
    </message>
    <message>
        <source>Write shared_preload_libraries = &apos;pg_stat_statements&apos; into postgresql.conf and restart the server. Then run in the library&apos;s database, as its administrator: CREATE EXTENSION pg_stat_statements; and GRANT pg_read_all_stats TO the library&apos;s role.</source>
        <translation>Schreiben Sie shared_preload_libraries = &apos;pg_stat_statements&apos; in postgresql.conf und starten Sie den Server neu. Führen Sie dann in der Datenbank der Bibliothek als ihr Verwalter aus: CREATE EXTENSION pg_stat_statements; und GRANT pg_read_all_stats TO der Rolle der Bibliothek.</translation>
    </message>
    <message>
        <source>Write the address of one folder.</source>
        <translation>Geben Sie die Adresse eines Ordners ein.</translation>
    </message>
    <message>
        <source>Write the address of one mail server.</source>
        <translation>Geben Sie die Adresse eines Mailservers ein.</translation>
    </message>
    <message>
        <source>Write the address with https://.</source>
        <translation>Schreiben Sie die Adresse mit https://.</translation>
    </message>
    <message>
        <source>Write the address with imaps://, such as imaps://imap.example.org.</source>
        <translation>Schreiben Sie die Adresse mit imaps://, etwa imaps://imap.example.org.</translation>
    </message>
    <message>
        <source>Write the client ID.</source>
        <translation>Schreiben Sie die Client-ID.</translation>
    </message>
    <message>
        <source>Write type:pdf, folder:taxes, after:2024 or -word; what is asked stays the question.</source>
        <translation>Schreiben Sie type:pdf, folder:steuern, after:2024 oder -wort; gefragt wird weiter die Frage selbst.</translation>
    </message>
    <message>
        <source>Writing the index</source>
        <translation>Der Index wird geschrieben</translation>
    </message>
    <message>
        <source>X11 lets an app register hotkeys.</source>
        <translation>Unter X11 kann eine App Tasten belegen.</translation>
    </message>
    <message>
        <source>Your question was not sent. End the program that listens at {address}.</source>
        <translation>Ihre Frage wurde nicht gesendet. Beenden Sie das Programm, das auf {address} wartet.</translation>
    </message>
    <message>
        <source>Zotero does not say where the file is.</source>
        <translation>Zotero sagt nicht, wo die Datei ist.</translation>
    </message>
    <message>
        <source>Zotero is read on this computer only.</source>
        <translation>Zotero wird nur auf diesem Computer gelesen.</translation>
    </message>
    <message>
        <source>Zotero may fetch it when the attachment is opened there.</source>
        <translation>Zotero holt sie vielleicht, wenn der Anhang dort geöffnet wird.</translation>
    </message>
    <message>
        <source>[data]</source>
        <translation>[Daten]</translation>
    </message>
    <message>
        <source>a device, pipe or socket</source>
        <translation>ein Gerät, eine Pipe oder ein Socket</translation>
    </message>
    <message>
        <source>a folder of tools or of the system</source>
        <translation>ein Ordner von Werkzeugen oder des Systems</translation>
    </message>
    <message>
        <source>a guess</source>
        <translation>geschätzt</translation>
    </message>
    <message>
        <source>a link that leads out of the folder</source>
        <translation>ein Link, der aus dem Ordner hinausführt</translation>
    </message>
    <message>
        <source>a little</source>
        <translation>ein wenig</translation>
    </message>
    <message>
        <source>a temporary file</source>
        <translation>eine temporäre Datei</translation>
    </message>
    <message>
        <source>answer of yours</source>
        <translation>von Ihnen verbesserte Antwort</translation>
    </message>
    <message>
        <source>answers of yours</source>
        <translation>von Ihnen verbesserte Antworten</translation>
    </message>
    <message>
        <source>archive</source>
        <translation>Archiv</translation>
    </message>
    <message>
        <source>as the server said</source>
        <translation>laut Server</translation>
    </message>
    <message>
        <source>audio or video</source>
        <translation>Ton oder Video</translation>
    </message>
    <message>
        <source>can&apos;t be read</source>
        <translation>kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>cannot be opened: {strerror}</source>
        <translation>kann nicht geöffnet werden: {strerror}</translation>
    </message>
    <message>
        <source>database</source>
        <translation>Datenbank</translation>
    </message>
    <message>
        <source>desktop-rag doctor --repair</source>
        <translation>desktop-rag doctor --repair</translation>
    </message>
    <message>
        <source>docs/google-docs-and-gmail.md says how one is made.</source>
        <translation>docs/google-docs-and-gmail.md sagt, wie man eine macht.</translation>
    </message>
    <message>
        <source>documents</source>
        <translation>Dokumente</translation>
    </message>
    <message>
        <source>drawing</source>
        <translation>Zeichnung</translation>
    </message>
    <message>
        <source>imaps://imap.example.org</source>
        <translation>imaps://imap.example.org</translation>
    </message>
    <message>
        <source>{host} asks to come back later.</source>
        <translation>{host} bittet, später wiederzukommen.</translation>
    </message>
    <message>
        <source>{host} did not answer in time.</source>
        <translation>{host} hat nicht rechtzeitig geantwortet.</translation>
    </message>
    <message>
        <source>{since} is no day.</source>
        <translation>{since} ist kein Tag.</translation>
    </message>
    <message>
        <source>Clouds, mailboxes, trackers and libraries you added</source>
        <translation>Clouds, Postfächer, Tracker und Bibliotheken, die Sie hinzugefügt haben</translation>
    </message>
    <message>
        <source>Your user name and password or token, and requests for lists and for what they name.</source>
        <translation>Ihr Benutzername mit Passwort oder Token und Anfragen nach Listen und dem, was sie nennen.</translation>
    </message>
    <message>
        <source>e-mail</source>
        <translation>E-Mail</translation>
    </message>
    <message>
        <source>ends in {suffix}</source>
        <translation>auf {suffix} endet</translation>
    </message>
    <message>
        <source>file with tags of yours</source>
        <translation>Datei mit Ihren Schlagwörtern</translation>
    </message>
    <message>
        <source>files with tags of yours</source>
        <translation>Dateien mit Ihren Schlagwörtern</translation>
    </message>
    <message>
        <source>folder, file or link</source>
        <translation>Ordner, Datei oder Link</translation>
    </message>
    <message>
        <source>folders, files and links</source>
        <translation>Ordner, Dateien und Links</translation>
    </message>
    <message>
        <source>for example http://localhost:11434/v1</source>
        <translation>zum Beispiel http://localhost:11434/v1</translation>
    </message>
    <message>
        <source>gone since {since}; kept until {until}</source>
        <translation>nicht mehr da seit {since}; aufbewahrt bis {until}</translation>
    </message>
    <message>
        <source>hidden</source>
        <translation>versteckt</translation>
    </message>
    <message>
        <source>is {name}</source>
        <translation>{name} lautet</translation>
    </message>
    <message>
        <source>it has a document type of its own</source>
        <translation>er hat einen eigenen Dokumenttyp</translation>
    </message>
    <message>
        <source>it is cut off</source>
        <translation>sie ist abgeschnitten</translation>
    </message>
    <message>
        <source>it is damaged</source>
        <translation>er ist beschädigt</translation>
    </message>
    <message>
        <source>it is damaged: {exc}</source>
        <translation>er ist beschädigt: {exc}</translation>
    </message>
    <message>
        <source>it is nested too deep</source>
        <translation>er ist zu tief verschachtelt</translation>
    </message>
    <message>
        <source>it is too long</source>
        <translation>sie ist zu lang</translation>
    </message>
    <message>
        <source>its compression is damaged</source>
        <translation>ihre Kompression ist beschädigt</translation>
    </message>
    <message>
        <source>its name is not valid text</source>
        <translation>ihr Name ist kein gültiger Text</translation>
    </message>
    <message>
        <source>judged {judging} of the sample claims right</source>
        <translation>{judging} der Beispielaussagen richtig beurteilt</translation>
    </message>
    <message>
        <source>larger than {max_size_bytes} MB</source>
        <translation>größer als {max_size_bytes} MB</translation>
    </message>
    <message>
        <source>left out by a pattern of yours</source>
        <translation>durch eines Ihrer Muster ausgelassen</translation>
    </message>
    <message>
        <source>lexical_weight, instructions, chunking {{method, max_tokens, overlap_tokens}}</source>
        <translation>lexical_weight, instructions, chunking {{method, max_tokens, overlap_tokens}}</translation>
    </message>
    <message>
        <source>library</source>
        <translation>Bibliothek</translation>
    </message>
    <message>
        <source>page {label} ({page})</source>
        <translation>Seite {label} ({page})</translation>
    </message>
    <message>
        <source>page {page}</source>
        <translation>Seite {page}</translation>
    </message>
    <message>
        <source>slide {number}</source>
        <translation>Folie {number}</translation>
    </message>
    <message>
        <source>cells {cells}</source>
        <translation>Zellen {cells}</translation>
    </message>
    <message>
        <source>line {line}</source>
        <translation>Zeile {line}</translation>
    </message>
    <message>
        <source>mailbox</source>
        <translation>Postfach</translation>
    </message>
    <message>
        <source>max_user_instances</source>
        <translation>max_user_instances</translation>
    </message>
    <message>
        <source>max_user_watches</source>
        <translation>max_user_watches</translation>
    </message>
    <message>
        <source>model.toml does not list {required}</source>
        <translation>model.toml führt {required} nicht auf</translation>
    </message>
    <message>
        <source>named in .gitignore</source>
        <translation>in .gitignore genannt</translation>
    </message>
    <message>
        <source>nested too deep</source>
        <translation>zu tief verschachtelt</translation>
    </message>
    <message>
        <source>none yet</source>
        <translation>noch keine</translation>
    </message>
    <message>
        <source>not supported: no file extension</source>
        <translation>nicht unterstützt: keine Dateiendung</translation>
    </message>
    <message>
        <source>not supported: {suffix}</source>
        <translation>nicht unterstützt: {suffix}</translation>
    </message>
    <message>
        <source>old Office file</source>
        <translation>alte Office-Datei</translation>
    </message>
    <message>
        <source>opinion of an answer</source>
        <translation>Bewertung einer Antwort</translation>
    </message>
    <message>
        <source>opinions of answers</source>
        <translation>Bewertungen von Antworten</translation>
    </message>
    <message>
        <source>or more</source>
        <translation>oder mehr</translation>
    </message>
    <message>
        <source>program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>saved prompt</source>
        <translation>gespeicherte Vorlage</translation>
    </message>
    <message>
        <source>saved prompts</source>
        <translation>gespeicherte Vorlagen</translation>
    </message>
    <message>
        <source>status {status_code}</source>
        <translation>Status {status_code}</translation>
    </message>
    <message>
        <source>temporary files</source>
        <translation>temporäre Dateien</translation>
    </message>
    <message>
        <source>text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>the file can&apos;t be read: it may be damaged</source>
        <translation>die Datei kann nicht gelesen werden: Sie ist vielleicht beschädigt</translation>
    </message>
    <message>
        <source>the file it is in has too much text</source>
        <translation>die Datei, in der sie steckt, hat zu viel Text</translation>
    </message>
    <message>
        <source>the same file as {name}</source>
        <translation>dieselbe Datei wie {name}</translation>
    </message>
    <message>
        <source>topics.co</source>
        <translation>topics.co</translation>
    </message>
    <message>
        <source>uv pip install --python {python}</source>
        <translation>uv pip install --python {python}</translation>
    </message>
    <message>
        <source>web page</source>
        <translation>Webseite</translation>
    </message>
    <message>
        <source>{address} is not in the library.</source>
        <translation>{address} ist nicht in der Bibliothek.</translation>
    </message>
    <message>
        <source>{all:,} of {most:,} connections are in use, {own:,} by the library.</source>
        <translation>{all:,} von {most:,} Verbindungen sind in Gebrauch, {own:,} von der Bibliothek.</translation>
    </message>
    <message>
        <source>{answering} of the short questions</source>
        <translation>{answering} der kurzen Fragen</translation>
    </message>
    <message>
        <source>{count:,.1f} GB</source>
        <translation>{count:,.1f} GB</translation>
    </message>
    <message>
        <source>{count:,} MB</source>
        <translation>{count:,} MB</translation>
    </message>
    <message>
        <source>{count:,} pages could</source>
        <translation>{count:,} Seiten konnten</translation>
    </message>
    <message>
        <source>{count} pages</source>
        <translation>{count} Seiten</translation>
    </message>
    <message>
        <source>{count} seconds</source>
        <translation>{count} Sekunden</translation>
    </message>
    <message>
        <source>{failed:,} of them could not be read.</source>
        <translation>{failed:,} davon konnten nicht gelesen werden.</translation>
    </message>
    <message>
        <source>{file} can&apos;t be written.</source>
        <translation>{file} kann nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>{file} exists.</source>
        <translation>{file} gibt es schon.</translation>
    </message>
    <message>
        <source>{file}: {strerror}. An earlier file of this name is unchanged.</source>
        <translation>{file}: {strerror}. Eine frühere Datei dieses Namens ist unverändert.</translation>
    </message>
    <message>
        <source>{folder} can&apos;t be used.</source>
        <translation>{folder} kann nicht verwendet werden.</translation>
    </message>
    <message>
        <source>{folder} is not a folder of this user alone. Remove it and start again.</source>
        <translation>{folder} ist kein Ordner dieses Benutzers allein. Entfernen Sie ihn, und starten Sie noch einmal.</translation>
    </message>
    <message>
        <source>{free} are free for the {what} in {folder}.</source>
        <translation>{free} sind in {folder} frei ({what}).</translation>
    </message>
    <message>
        <source>{hostname} states no hash for the file.</source>
        <translation>{hostname} gibt für die Datei keine Prüfsumme an.</translation>
    </message>
    <message>
        <source>{host} asks to come back later ({status}).</source>
        <translation>{host} bittet, später wiederzukommen ({status}).</translation>
    </message>
    <message>
        <source>{host} can&apos;t be reached.</source>
        <translation>{host} ist nicht erreichbar.</translation>
    </message>
    <message>
        <source>{host} ended the connection in the middle of its answer.</source>
        <translation>{host} hat die Verbindung mitten in der Antwort beendet.</translation>
    </message>
    <message>
        <source>{host} is no address of this computer.</source>
        <translation>{host} ist keine Adresse dieses Computers.</translation>
    </message>
    <message>
        <source>{host} is not on the public internet.</source>
        <translation>{host} ist nicht im öffentlichen Internet.</translation>
    </message>
    <message>
        <source>{host} offers no encryption that can be trusted.</source>
        <translation>{host} bietet keine vertrauenswürdige Verschlüsselung.</translation>
    </message>
    <message>
        <source>{host} was not found.</source>
        <translation>{host} wurde nicht gefunden.</translation>
    </message>
    <message>
        <source>{host}, port {port} and after: {said}.</source>
        <translation>{host}, ab Port {port}: {said}.</translation>
    </message>
    <message>
        <source>{inner} points outside the folder</source>
        <translation>{inner} führt aus dem Ordner hinaus</translation>
    </message>
    <message>
        <source>{kept} check the connection to its drive or server.</source>
        <translation>{kept} prüfen Sie die Verbindung zu seinem Laufwerk oder Server.</translation>
    </message>
    <message>
        <source>{kept} connect the drive, or remove the folder.</source>
        <translation>{kept} schließen Sie das Laufwerk an, oder entfernen Sie den Ordner.</translation>
    </message>
    <message>
        <source>{kept} give yourself the right to read it.</source>
        <translation>{kept} geben Sie sich das Recht, ihn zu lesen.</translation>
    </message>
    <message>
        <source>{key} can&apos;t be “{said}”.</source>
        <translation>{key} kann nicht „{said}“ sein.</translation>
    </message>
    <message>
        <source>{lost:,} characters are damaged.</source>
        <translation>{lost:,} Zeichen sind beschädigt.</translation>
    </message>
    <message>
        <source>{lost:,} characters do not fit {chosen}.</source>
        <translation>{lost:,} Zeichen passen nicht zu {chosen}.</translation>
    </message>
    <message>
        <source>{model} changed: its vectors have {found:,} numbers, not {dimensions:,}.</source>
        <translation>{model} hat sich geändert: Die Vektoren haben {found:,} Zahlen, nicht {dimensions:,}.</translation>
    </message>
    <message>
        <source>{model} did not answer within {query_s} seconds.</source>
        <translation>{model} hat nicht innerhalb von {query_s} Sekunden geantwortet.</translation>
    </message>
    <message>
        <source>{model} gave a vector that is none.</source>
        <translation>{model} gab einen Vektor, der keiner ist.</translation>
    </message>
    <message>
        <source>{model} sees no images.</source>
        <translation>{model} sieht keine Bilder.</translation>
    </message>
    <message>
        <source>{named}; the settings list the endpoints.</source>
        <translation>{named}; in den Einstellungen stehen die Endpunkte.</translation>
    </message>
    <message>
        <source>{name} answers with vectors of {dimensions:,} numbers.</source>
        <translation>{name} antwortet mit Vektoren aus {dimensions:,} Zahlen.</translation>
    </message>
    <message>
        <source>{name} can&apos;t be read.</source>
        <translation>{name} kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>{name} cannot be reached.</source>
        <translation>{name} ist nicht erreichbar.</translation>
    </message>
    <message>
        <source>{name} could not be read.</source>
        <translation>{name} konnte nicht gelesen werden.</translation>
    </message>
    <message>
        <source>{name} does not exist.</source>
        <translation>{name} gibt es nicht.</translation>
    </message>
    <message>
        <source>{name} has another ending.</source>
        <translation>{name} hat eine andere Endung.</translation>
    </message>
    <message>
        <source>{name} has no questions.</source>
        <translation>{name} enthält keine Fragen.</translation>
    </message>
    <message>
        <source>{name} has no set-ups.</source>
        <translation>{name} enthält keine Aufbauten.</translation>
    </message>
    <message>
        <source>{name} has {found_bytes:,} bytes instead of {size_bytes:,}</source>
        <translation>{name} hat {found_bytes:,} Bytes statt {size_bytes:,}</translation>
    </message>
    <message>
        <source>{name} has {total:,} {what}.</source>
        <translation>{name} hat {total:,} {what}.</translation>
    </message>
    <message>
        <source>{name} is checked once a minute.</source>
        <translation>{name} wird einmal in der Minute geprüft.</translation>
    </message>
    <message>
        <source>{name} is complete and unaltered.</source>
        <translation>{name} ist vollständig und unverändert.</translation>
    </message>
    <message>
        <source>{name} is in the library already.</source>
        <translation>{name} ist schon in der Bibliothek.</translation>
    </message>
    <message>
        <source>{name} is missing</source>
        <translation>{name} fehlt</translation>
    </message>
    <message>
        <source>{name} is no backup that this app has made, or it is damaged.</source>
        <translation>{name} ist keine Sicherung, die diese App angelegt hat, oder beschädigt.</translation>
    </message>
    <message>
        <source>{name} is no chat that this app has exported.</source>
        <translation>{name} ist kein Chat, den diese App exportiert hat.</translation>
    </message>
    <message>
        <source>{name} is no text in UTF-8.</source>
        <translation>{name} ist kein Text in UTF-8.</translation>
    </message>
    <message>
        <source>{name} is too large.</source>
        <translation>{name} ist zu groß.</translation>
    </message>
    <message>
        <source>{name} points outside the folder</source>
        <translation>{name} führt aus dem Ordner hinaus</translation>
    </message>
    <message>
        <source>{name} was altered</source>
        <translation>{name} wurde verändert</translation>
    </message>
    <message>
        <source>{name} was changed by another program.</source>
        <translation>{name} wurde von einem anderen Programm geändert.</translation>
    </message>
    <message>
        <source>{name} was written by another version of this app.</source>
        <translation>{name} wurde von einer anderen Version dieser App geschrieben.</translation>
    </message>
    <message>
        <source>{need:,} folders are watched of the {most:,} that the system allows</source>
        <translation>{need:,} Ordner werden überwacht von den {most:,}, die das System erlaubt</translation>
    </message>
    <message>
        <source>{page_limit:,} files</source>
        <translation>{page_limit:,} Dateien</translation>
    </message>
    <message>
        <source>{page_limit:,} pages</source>
        <translation>{page_limit:,} Seiten</translation>
    </message>
    <message>
        <source>{path} can&apos;t be written.</source>
        <translation>{path} kann nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>{path} has another form than expected.</source>
        <translation>{path} hat eine andere Form als erwartet.</translation>
    </message>
    <message>
        <source>{path} is no note.</source>
        <translation>{path} ist keine Notiz.</translation>
    </message>
    <message>
        <source>{path} is no set of questions.</source>
        <translation>{path} ist kein Fragensatz.</translation>
    </message>
    <message>
        <source>{path} is not there. Connect its disk: the app goes on by itself.</source>
        <translation>{path} ist nicht da. Verbinden Sie den Datenträger: Die App macht von selbst weiter.</translation>
    </message>
    <message>
        <source>{path} is the key of another one.</source>
        <translation>{path} ist der Schlüssel eines anderen.</translation>
    </message>
    <message>
        <source>{path} was left as it is.</source>
        <translation>{path} blieb, wie sie ist.</translation>
    </message>
    <message>
        <source>{path} was left as it is. Move it away, or choose another home folder.</source>
        <translation>{path} blieb, wie sie ist. Verschieben Sie sie, oder wählen Sie einen anderen Ordner für die App.</translation>
    </message>
    <message>
        <source>{path} was left as it is. Move it away: then chats and folders come back from the journal beside it.</source>
        <translation>{path} blieb, wie sie ist. Verschieben Sie sie: Dann kommen Chats und Ordner aus dem Journal daneben zurück.</translation>
    </message>
    <message>
        <source>{path}. A key in PEM has lines such as -----BEGIN PRIVATE KEY-----.</source>
        <translation>{path}. Ein Schlüssel in PEM hat Zeilen wie -----BEGIN PRIVATE KEY-----.</translation>
    </message>
    <message>
        <source>{path}: it is from {day} on.</source>
        <translation>{path}: Es gilt ab {day}.</translation>
    </message>
    <message>
        <source>{path}: it was valid until {day}.</source>
        <translation>{path}: Es galt bis {day}.</translation>
    </message>
    <message>
        <source>{path}: {detail} Nothing was changed. `desktop-rag doctor --repair` saves what can be read and restores your chats; your own files are not affected.</source>
        <translation>{path}: {detail} Nichts wurde geändert. `desktop-rag doctor --repair` rettet, was lesbar ist, und stellt Ihre Chats wieder her; Ihre eigenen Dateien sind nicht betroffen.</translation>
    </message>
    <message>
        <source>{pictures:,} pictures and scanned pages are still to be read.</source>
        <translation>{pictures:,} Bilder und gescannte Seiten sind noch zu lesen.</translation>
    </message>
    <message>
        <source>{place} does not answer.</source>
        <translation>{place} antwortet nicht.</translation>
    </message>
    <message>
        <source>{place} does not give the file to everybody.</source>
        <translation>{place} gibt die Datei nicht jedem.</translation>
    </message>
    <message>
        <source>{place} does not have the file any more.</source>
        <translation>{place} hat die Datei nicht mehr.</translation>
    </message>
    <message>
        <source>{place} failed with status {status}.</source>
        <translation>{place} ist mit Status {status} gescheitert.</translation>
    </message>
    <message>
        <source>{python} -m pip install</source>
        <translation>{python} -m pip install</translation>
    </message>
    <message>
        <source>{read}; the server states {stated_tokens:,}.</source>
        <translation>{read}; der Server nennt {stated_tokens:,}.</translation>
    </message>
    <message>
        <source>{requests:,} requests</source>
        <translation>{requests:,} Anfragen</translation>
    </message>
    <message>
        <source>{requests_said} a minute</source>
        <translation>{requests_said} in der Minute</translation>
    </message>
    <message>
        <source>{requests_said} and {tokens_said} a minute</source>
        <translation>{requests_said} und {tokens_said} in der Minute</translation>
    </message>
    <message>
        <source>{required} is missing</source>
        <translation>{required} fehlt</translation>
    </message>
    <message>
        <source>{root} and everything in it is for you alone.</source>
        <translation>{root} und alles darin ist nur für Sie zugänglich.</translation>
    </message>
    <message>
        <source>{root} can&apos;t be used.</source>
        <translation>{root} kann nicht verwendet werden.</translation>
    </message>
    <message>
        <source>{root} does not exist yet.</source>
        <translation>{root} gibt es noch nicht.</translation>
    </message>
    <message>
        <source>{root} is missing, empty or cannot be opened. What was read from it stays searchable; it is looked at again when it comes back.</source>
        <translation>{root} fehlt, ist leer oder kann nicht geöffnet werden. Was daraus gelesen wurde, bleibt durchsuchbar; sobald der Ordner wieder da ist, wird er neu angesehen.</translation>
    </message>
    <message>
        <source>{root}: {strerror}. DESKTOP_RAG_HOME names another.</source>
        <translation>{root}: {strerror}. DESKTOP_RAG_HOME nennt einen anderen.</translation>
    </message>
    <message>
        <source>{share} of it is built.</source>
        <translation>{share} davon sind aufgebaut.</translation>
    </message>
    <message>
        <source>{shown} and {more} more</source>
        <translation>{shown} und {more} weitere</translation>
    </message>
    <message>
        <source>{shown}; and {more} more</source>
        <translation>{shown}; und {more} weitere</translation>
    </message>
    <message>
        <source>{size:,.1f} TB</source>
        <translation>{size:,.1f} TB</translation>
    </message>
    <message>
        <source>{size:,} bytes</source>
        <translation>{size:,} Bytes</translation>
    </message>
    <message>
        <source>{size_bytes:,} bytes</source>
        <translation>{size_bytes:,} Bytes</translation>
    </message>
    <message>
        <source>{spent_today} is spent today. Raise the limit in Settings, choose another endpoint, or go on tomorrow.</source>
        <translation>{spent_today} sind heute ausgegeben. Erhöhen Sie die Grenze in den Einstellungen, wählen Sie einen anderen Endpunkt, oder machen Sie morgen weiter.</translation>
    </message>
    <message>
        <source>{strerror}. Choose another port.</source>
        <translation>{strerror}. Wählen Sie einen anderen Port.</translation>
    </message>
    <message>
        <source>{title} has just written its file.</source>
        <translation>{title} hat seine Datei gerade geschrieben.</translation>
    </message>
    <message>
        <source>{title} was not found on this computer.</source>
        <translation>{title} wurde auf diesem Computer nicht gefunden.</translation>
    </message>
    <message>
        <source>{tokens:,} tokens</source>
        <translation>{tokens:,} Token</translation>
    </message>
    <message>
        <source>{tokens_said} a minute</source>
        <translation>{tokens_said} in der Minute</translation>
    </message>
    <message>
        <source>{told}, and other programs need some.</source>
        <translation>{told}, und andere Programme brauchen auch welche.</translation>
    </message>
    <message>
        <source>{url} could</source>
        <translation>{url} konnte</translation>
    </message>
    <message>
        <source>{value} hours</source>
        <translation>{value} Stunden</translation>
    </message>
    <message>
        <source>{value} minutes</source>
        <translation>{value} Minuten</translation>
    </message>
    <message>
        <source>{waiting:,} passages still get their vectors while the app runs.</source>
        <translation>{waiting:,} Textstellen bekommen ihre Vektoren noch, während die App läuft.</translation>
    </message>
    <message>
        <source>{what} can&apos;t be read here.</source>
        <translation>{what} kann hier nicht gelesen werden.</translation>
    </message>
    <message>
        <source>{what} not be fetched again.</source>
        <translation>{what} nicht noch einmal abgerufen werden.</translation>
    </message>
    <message>
        <source>{written} is no folder.</source>
        <translation>{written} ist kein Ordner.</translation>
    </message>
    <message>
        <source>“desktop-rag doctor --examine” measures them; so does the app while it runs.</source>
        <translation>„desktop-rag doctor --examine“ misst sie, ebenso die App, während sie läuft.</translation>
    </message>
    <message>
        <source>“desktop-rag doctor --repair” mends it and reads the files concerned again. Chats are not affected.</source>
        <translation>„desktop-rag doctor --repair“ behebt das und liest die betroffenen Dateien noch einmal. Chats sind nicht betroffen.</translation>
    </message>
    <message>
        <source>“desktop-rag doctor --repair” restores them from the journal beside the library.</source>
        <translation>„desktop-rag doctor --repair“ stellt sie aus dem Journal neben der Bibliothek wieder her.</translation>
    </message>
    <message>
        <source>“desktop-rag status --failed” says why.</source>
        <translation>„desktop-rag status --failed“ sagt, warum.</translation>
    </message>
    <message>
        <source>“settings list” names them all.</source>
        <translation>„settings list“ nennt alle.</translation>
    </message>
    <message>
        <source>“{command}” is not a program.</source>
        <translation>„{command}“ ist kein Programm.</translation>
    </message>
    <message>
        <source>“{exc}” is not a list of settings. Correct the file first.</source>
        <translation>„{exc}“ ist keine Liste von Einstellungen. Berichtigen Sie zuerst die Datei.</translation>
    </message>
    <message>
        <source>“{file}” could not be deleted.</source>
        <translation>„{file}“ konnte nicht gelöscht werden.</translation>
    </message>
    <message>
        <source>“{file}” could not be saved.</source>
        <translation>„{file}“ konnte nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>“{file}” was changed on its way.</source>
        <translation>„{file}“ wurde unterwegs verändert.</translation>
    </message>
    <message>
        <source>“{filled}” would be read as an option.</source>
        <translation>„{filled}“ würde als Option gelesen.</translation>
    </message>
    <message>
        <source>“{line}” can&apos;t be allowed.</source>
        <translation>„{line}“ kann nicht erlaubt werden.</translation>
    </message>
    <message>
        <source>“{line}” is not a host of the local network.</source>
        <translation>„{line}“ ist kein Rechner des lokalen Netzes.</translation>
    </message>
    <message>
        <source>“{name}” can&apos;t be loaded.</source>
        <translation>„{name}“ kann nicht geladen werden.</translation>
    </message>
    <message>
        <source>“{name}” can&apos;t be read.</source>
        <translation>„{name}“ kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>“{name}” could not be deleted.</source>
        <translation>„{name}“ konnte nicht gelöscht werden.</translation>
    </message>
    <message>
        <source>“{name}” crashes while it is loaded.</source>
        <translation>„{name}“ stürzt beim Laden ab.</translation>
    </message>
    <message>
        <source>“{name}” has crashed.</source>
        <translation>„{name}“ ist abgestürzt.</translation>
    </message>
    <message>
        <source>“{name}” has no folder to index.</source>
        <translation>„{name}“ hat keinen Ordner, der indiziert werden könnte.</translation>
    </message>
    <message>
        <source>“{name}” has no questions.</source>
        <translation>„{name}“ enthält keine Fragen.</translation>
    </message>
    <message>
        <source>“{name}” has no slot {unknown}.</source>
        <translation>„{name}“ hat keine Lücke {unknown}.</translation>
    </message>
    <message>
        <source>“{name}” has not begun to answer after {silent_s} s. Still waiting.</source>
        <translation>„{name}“ hat nach {silent_s} s noch nicht begonnen zu antworten. Es wird weiter gewartet.</translation>
    </message>
    <message>
        <source>“{name}” has paused for {silent_s} s. Waiting for the rest.</source>
        <translation>„{name}“ ist seit {silent_s} s still. Auf den Rest wird gewartet.</translation>
    </message>
    <message>
        <source>“{name}” is a model that writes no text.</source>
        <translation>„{name}“ ist ein Modell, das keinen Text schreibt.</translation>
    </message>
    <message>
        <source>“{name}” is given more than once.</source>
        <translation>„{name}“ ist mehr als einmal angegeben.</translation>
    </message>
    <message>
        <source>“{name}” is no model that this app can run.</source>
        <translation>„{name}“ ist kein Modell, das diese App ausführen kann.</translation>
    </message>
    <message>
        <source>“{name}” is not a known program.</source>
        <translation>„{name}“ ist kein bekanntes Programm.</translation>
    </message>
    <message>
        <source>“{name}” is not fetched to its end.</source>
        <translation>„{name}“ ist nicht zu Ende heruntergeladen.</translation>
    </message>
    <message>
        <source>“{name}” is not known.</source>
        <translation>„{name}“ ist nicht bekannt.</translation>
    </message>
    <message>
        <source>“{name}” is not whole.</source>
        <translation>„{name}“ ist nicht vollständig.</translation>
    </message>
    <message>
        <source>“{name}” is writing.</source>
        <translation>„{name}“ schreibt.</translation>
    </message>
    <message>
        <source>“{name}” reads the prompt, about {reading_s} s.</source>
        <translation>„{name}“ liest den Prompt, etwa {reading_s} s.</translation>
    </message>
    <message>
        <source>“{path}” is not the path of a site.</source>
        <translation>„{path}“ ist kein Pfad einer Website.</translation>
    </message>
    <message>
        <source>“{piece}” can&apos;t be fetched.</source>
        <translation>„{piece}“ kann nicht abgerufen werden.</translation>
    </message>
    <message>
        <source>“{piece}” is not the address of a web page.</source>
        <translation>„{piece}“ ist keine Adresse einer Webseite.</translation>
    </message>
    <message>
        <source>“{text}” is not a filter.</source>
        <translation>„{text}“ ist kein Filter.</translation>
    </message>
    <message>
        <source>“{text}” is not a part of a local network.</source>
        <translation>„{text}“ ist kein Teil eines lokalen Netzes.</translation>
    </message>
    <message>
        <source>“{text}” is not the address of a site or folder.</source>
        <translation>„{text}“ ist keine Adresse einer Website oder eines Ordners.</translation>
    </message>
    <message>
        <source>“{value}” is not a date.</source>
        <translation>„{value}“ ist kein Datum.</translation>
    </message>
    <message>
        <source>The shared library is not connected yet, so it was not searched.</source>
        <translation>Die gemeinsame Bibliothek ist noch nicht verbunden und wurde daher nicht durchsucht.</translation>
    </message>
    <message>
        <source>The shared library is offline, so it was not searched.</source>
        <translation>Die gemeinsame Bibliothek ist offline und wurde daher nicht durchsucht.</translation>
    </message>
    <message>
        <source>The server of the shared library did not answer in time.</source>
        <translation>Der Server der gemeinsamen Bibliothek hat nicht rechtzeitig geantwortet.</translation>
    </message>
    <message>
        <source>no collections</source>
        <translation>keine Sammlungen</translation>
    </message>
    <message>
        <source>Shared, connecting…: {names}</source>
        <translation>Gemeinsam, wird verbunden …: {names}</translation>
    </message>
    <message>
        <source>Shared, offline since {time}: {names}</source>
        <translation>Gemeinsam, offline seit {time}: {names}</translation>
    </message>
    <message>
        <source>Shared: {names}</source>
        <translation>Gemeinsam: {names}</translation>
    </message>
    <message>
        <source>Questions search your own library and the collections of the shared one together. Nothing is written there.</source>
        <translation>Fragen durchsuchen Ihre eigene Bibliothek und die Sammlungen der gemeinsamen zusammen. Dort wird nichts geschrieben.</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Jetzt</translation>
    </message>
    <message>
        <source>Try now</source>
        <translation>Jetzt versuchen</translation>
    </message>
    <message>
        <source>Searched by words only, because their model is not on this computer: {names}</source>
        <translation>Nur nach Wörtern durchsucht, weil ihr Modell nicht auf diesem Computer ist: {names}</translation>
    </message>
    <message>
        <source>Online since {time}.</source>
        <translation>Online seit {time}.</translation>
    </message>
    <message>
        <source>Offline since {time}.</source>
        <translation>Offline seit {time}.</translation>
    </message>
    <message>
        <source>Filters of your own</source>
        <translation>Eigene Filter</translation>
    </message>
    <message>
        <source>server, API, MCP, REST, OpenAI-compatible, connect an editor, share, host, hosts, LAN</source>
        <translation>Server, API, MCP, REST, OpenAI-kompatibel, Editor verbinden, freigeben, Host, LAN</translation>
    </message>
    <message>
        <source>turn on the server, API, switch, start, stop</source>
        <translation>Server einschalten, API, Schalter, starten, anhalten</translation>
    </message>
    <message>
        <source>URL of the server, localhost, endpoint</source>
        <translation>URL des Servers, localhost, Endpunkt</translation>
    </message>
    <message>
        <source>proxy, pass through, share</source>
        <translation>Proxy, durchreichen, freigeben</translation>
    </message>
    <message>
        <source>admin page, dashboard, statistics, permissions, rights</source>
        <translation>Verwaltungsseite, Dashboard, Statistik, Berechtigungen, Rechte</translation>
    </message>
    <message>
        <source>network, LAN, other computers, phone, hosts, 0.0.0.0</source>
        <translation>Netzwerk, LAN, andere Computer, Telefon, Host, 0.0.0.0</translation>
    </message>
    <message>
        <source>host names, domain, DNS</source>
        <translation>Hostnamen, Domain, DNS</translation>
    </message>
    <message>
        <source>number, 8642, in use</source>
        <translation>Nummer, 8642, belegt</translation>
    </message>
    <message>
        <source>HTTPS, TLS, SSL, encryption</source>
        <translation>HTTPS, TLS, SSL, Verschlüsselung</translation>
    </message>
    <message>
        <source>HTTPS, TLS, SSL, private key</source>
        <translation>HTTPS, TLS, SSL, privater Schlüssel</translation>
    </message>
    <message>
        <source>apply, certificate, restart the server</source>
        <translation>anwenden, Zertifikat, Server neu starten</translation>
    </message>
    <message>
        <source>API key, password, access, allow a program</source>
        <translation>API-Schlüssel, Passwort, Zugang, Programm erlauben</translation>
    </message>
    <message>
        <source>record, logging, history, privacy</source>
        <translation>aufzeichnen, Protokoll, Verlauf, Datenschutz</translation>
    </message>
    <message>
        <source>log, who asked, history</source>
        <translation>Protokoll, wer gefragt hat, Verlauf</translation>
    </message>
    <message>
        <source>functions, plugins, pipelines, code</source>
        <translation>Funktionen, Erweiterungen, Pipelines, Code</translation>
    </message>
    <message>
        <source>Claude Desktop, Cursor, VS Code, editor, tools</source>
        <translation>Claude Desktop, Cursor, VS Code, Editor, Werkzeuge</translation>
    </message>
    <message>
        <source>Search by meaning is not ready yet; answers get better when it is.</source>
        <translation>Die Suche nach Bedeutung ist noch nicht bereit; mit ihr werden Antworten besser.</translation>
    </message>
    <message>
        <source>No model here reads the language of this question: only its words were compared.</source>
        <translation>Kein Modell hier liest die Sprache dieser Frage: Verglichen wurden nur ihre Wörter.</translation>
    </message>
    <message>
        <source>English documents can&apos;t be searched in other languages yet; they can in a few minutes.</source>
        <translation>Englische Dokumente lassen sich in anderen Sprachen noch nicht durchsuchen, aber in einigen Minuten.</translation>
    </message>
    <message>
        <source>pair</source>
        <translation>Paar</translation>
    </message>
    <message>
        <source>pairs</source>
        <translation>Paare</translation>
    </message>
    <message>
        <source>“{model}” judged {pairs}.</source>
        <translation>„{model}“ hat {pairs} beurteilt.</translation>
    </message>
    <message>
        <source>{count:,} it judged before</source>
        <translation>{count:,} schon früher beurteilt</translation>
    </message>
    <message>
        <source>{count:,} where its reply named no answer</source>
        <translation>{count:,}, bei denen es keine Antwort nannte</translation>
    </message>
    <message>
        <source>{count:,} without a finished answer in both</source>
        <translation>{count:,} ohne fertige Antwort in beiden</translation>
    </message>
    <message>
        <source>Not judged: {parts}.</source>
        <translation>Nicht beurteilt: {parts}.</translation>
    </message>
    <message>
        <source>No question was answered and judged in both.</source>
        <translation>Keine Frage wurde in beiden beantwortet und beurteilt.</translation>
    </message>
    <message>
        <source>Neither is better: {same:,} equal.</source>
        <translation>Keiner ist besser: {same:,} gleich.</translation>
    </message>
    <message>
        <source>This is likely not chance.</source>
        <translation>Das ist wohl kein Zufall.</translation>
    </message>
    <message>
        <source>This may be chance; more questions would tell.</source>
        <translation>Das kann Zufall sein; mehr Fragen würden es zeigen.</translation>
    </message>
    <message>
        <source>This is no more than chance would make.</source>
        <translation>Das ist nicht mehr, als der Zufall macht.</translation>
    </message>
    <message>
        <source>Neither is ahead: {count:,} each, {same:,} equal.</source>
        <translation>Keiner liegt vorn: je {count:,}, {same:,} gleich.</translation>
    </message>
    <message>
        <source>{name} is better: {most:,} to {fewest:,}, {same:,} equal.</source>
        <translation>{name} ist besser: {most:,} zu {fewest:,}, {same:,} gleich.</translation>
    </message>
    <message>
        <source>{name} is ahead: {most:,} to {fewest:,}, {same:,} equal.</source>
        <translation>{name} liegt vorn: {most:,} zu {fewest:,}, {same:,} gleich.</translation>
    </message>
    <message>
        <source>It rests on {basis}.</source>
        <translation>Grundlage: {basis}.</translation>
    </message>
    <message>
        <source>The chance allows for {count:,} that were tried.</source>
        <translation>Eingerechnet ist, dass {count:,} probiert wurden.</translation>
    </message>
    <message>
        <source>Nothing was judged yet, so neither is called better.</source>
        <translation>Noch wurde nichts beurteilt, daher gilt keiner als besser.</translation>
    </message>
    <message>
        <source>More of the answer is backed by sources: {second} in {better:,}, {first} in {worse:,}, equal in {same:,}.</source>
        <translation>Mehr von der Antwort ist durch Quellen belegt: {second} bei {better:,}, {first} bei {worse:,}, gleich bei {same:,}.</translation>
    </message>
    <message>
        <source>{count:,} failed</source>
        <translation>{count:,} gescheitert</translation>
    </message>
    <message>
        <source>{count:,} not answered yet</source>
        <translation>{count:,} noch nicht beantwortet</translation>
    </message>
    <message>
        <source>{count:,} answered by excerpts, which only quote</source>
        <translation>{count:,} mit Auszügen beantwortet, die nur zitieren</translation>
    </message>
    <message>
        <source>{count:,} not judged</source>
        <translation>{count:,} nicht beurteilt</translation>
    </message>
    <message>
        <source>{count:,} without a sentence to check</source>
        <translation>{count:,} ohne einen prüfbaren Satz</translation>
    </message>
    <message>
        <source>Left out: {parts}.</source>
        <translation>Nicht gezählt: {parts}.</translation>
    </message>
    <message>
        <source>No source is cited.</source>
        <translation>Keine Quelle ist zitiert.</translation>
    </message>
    <message>
        <source>App</source>
        <translation>App</translation>
    </message>
    <message>
        <source>Data and health</source>
        <translation>Daten und Zustand</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <source>From: {value}</source>
        <translation>Von: {value}</translation>
    </message>
    <message>
        <source>To: {value}</source>
        <translation>An: {value}</translation>
    </message>
    <message>
        <source>Cc: {value}</source>
        <translation>Kopie: {value}</translation>
    </message>
    <message>
        <source>Date: {value}</source>
        <translation>Datum: {value}</translation>
    </message>
    <message>
        <source>Subject: {value}</source>
        <translation>Betreff: {value}</translation>
    </message>
    <message>
        <source>Start {programs}, then press Test. Nothing is saved until it answers.</source>
        <translation>Starten Sie {programs} und drücken Sie „Testen“. Gespeichert wird erst, wenn eine Antwort kommt.</translation>
    </message>
    <message>
        <source>No model server answers at {host}.</source>
        <translation>Unter {host} antwortet kein Modellserver.</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Computer</translation>
    </message>
    <message>
        <source>“{model}” repeated itself: the rest was cut.</source>
        <translation>„{model}“ hat sich wiederholt: der Rest wurde abgeschnitten.</translation>
    </message>
    <message>
        <source>“{model}” makes things up, and nothing new in its answer is backed: a larger model writes freely.</source>
        <translation>„{model}“ erfindet Dinge, und nichts Neues in seiner Antwort ist belegt: Ein größeres Modell schreibt frei.</translation>
    </message>
    <message>
        <source>No setting has these words. Try others.</source>
        <translation>Keine Einstellung hat diese Wörter. Versuchen Sie andere.</translation>
    </message>
    <message>
        <source>Settings found</source>
        <translation>Gefundene Einstellungen</translation>
    </message>
    <message>
        <source>Found</source>
        <translation>Gefunden</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>Einstellungen durchsuchen</translation>
    </message>
    <message>
        <source>No file is called “{name}”.</source>
        <translation>Keine Datei heißt „{name}“.</translation>
    </message>
    <message>
        <source>The whole text was read as well.</source>
        <translation>Auch der ganze Text wurde gelesen.</translation>
    </message>
    <message>
        <source>Only {asked:,} of {total:,} files were asked.</source>
        <translation>Nur {asked:,} von {total:,} Dateien wurden befragt.</translation>
    </message>
    <message>
        <source>Only {asked:,} of {total:,} parts were asked.</source>
        <translation>Nur {asked:,} von {total:,} Teilen wurden befragt.</translation>
    </message>
    <message>
        <source>Less was sent, as the model reads about {speed} tokens a second.</source>
        <translation>Es wurde weniger gesendet, da das Modell etwa {speed} Token in der Sekunde liest.</translation>
    </message>
    <message>
        <source>The model refused a longer prompt</source>
        <translation>Das Modell nahm keine längere Eingabe an</translation>
    </message>
    <message>
        <source>{sent} of {found} sources were sent</source>
        <translation>{sent} von {found} Quellen wurden gesendet</translation>
    </message>
    <message>
        <source>Takes effect after a restart.</source>
        <translation>Gilt nach einem Neustart.</translation>
    </message>
    <message>
        <source>No document here is known to answer it.</source>
        <translation>Von keinem Dokument hier ist bekannt, dass es sie beantwortet.</translation>
    </message>
</context>
</TS>
