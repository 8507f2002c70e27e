; The installer for Windows, for Inno Setup 6: ISCC.exe packaging\windows\desktop-rag.iss
; It installs for one person and needs no administrator. Links and the entries of Explorer are
; written and removed by the program itself, as on the other systems.

#define Name "desktop-rag"
#define Id "app.desktoprag.desktoprag"
#ifndef Version
  #define Version "0.1.0"
#endif

[Setup]
AppId={#Id}
AppName={#Name}
AppVersion={#Version}
DefaultDirName={localappdata}\Programs\{#Name}
DefaultGroupName={#Name}
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
Compression=lzma2
SolidCompression=yes
OutputDir=..\..\build
OutputBaseFilename={#Name}-{#Version}-setup
SetupIconFile=..\..\build\icons\{#Name}.ico
UninstallDisplayIcon={app}\{#Name}-window.exe
LicenseFile=..\..\LICENSE
CloseApplications=yes

[Files]
Source: "..\..\build\bundle\{#Name}\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\{#Name}"; Filename: "{app}\{#Name}-window.exe"; AppUserModelID: "{#Id}"

[Run]
Filename: "{app}\{#Name}.exe"; Parameters: "desktop-entries install"; Flags: runhidden
Filename: "{app}\{#Name}-window.exe"; Description: "{cm:LaunchProgram,{#Name}}"; Flags: nowait postinstall skipifsilent

[UninstallRun]
Filename: "{app}\{#Name}.exe"; Parameters: "quit"; Flags: runhidden; RunOnceId: "Quit"
Filename: "{app}\{#Name}.exe"; Parameters: "desktop-entries remove"; Flags: runhidden; RunOnceId: "Entries"
